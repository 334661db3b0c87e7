import { useEffect, useState } from 'preact/hooks';

/** A value that several components read with `useStore`; a change renders them again. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(listener: (value: Value) => void): () => void;
}

export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<(value: Value) => void>();
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(() => store.get());
  useEffect(() => {
    // The value may have changed since the first render.
    setValue(() => store.get());
    return store.subscribe((next) => setValue(() => next));
  }, [store]);
  return value;
}
