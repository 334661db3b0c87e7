import { createStore } from '../store.ts';

/** Any page may open the dialog in which a key is entered. */
export const isKeyDialogOpen = createStore(false);
