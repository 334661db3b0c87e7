import { controlStoreContract } from '../contract/control-store.ts';
import { createModelStore } from '../support/model-store.ts';

controlStoreContract(
  'the model',
  async () => {
    const model = createModelStore();
    return { store: model.handle(), reopen: async () => model.handle(), close: async () => undefined };
  },
  { sharedRates: true },
);
