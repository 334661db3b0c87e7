import { createModelStore } from '../../kit/model-store.ts';
import { controlStoreContract } from './control-store.ts';

controlStoreContract(
  'the model',
  async () => {
    const model = createModelStore();
    return { store: model.handle(), reopen: async () => model.handle(), close: async () => undefined };
  },
  { sharedRates: true },
);
