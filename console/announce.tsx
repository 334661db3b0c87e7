import { createStore, useStore } from './store.ts';

const said = createStore({ text: '', turn: 0 });

/** Says a short sentence to screen readers, politely, without moving the focus: results that arrived, things copied, failures. */
export function announce(text: string): void {
  said.set({ text, turn: said.get().turn + 1 });
}

/** Once on the page. Two regions take turns, so that the same sentence said twice is heard twice. */
export function LiveRegion() {
  const { text, turn } = useStore(said);
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{turn % 2 === 0 ? text : ''}</div>
      <div aria-live="polite">{turn % 2 === 1 ? text : ''}</div>
    </div>
  );
}
