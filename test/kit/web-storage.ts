import { vi } from 'vitest';

/** The storage of a browser, which Node does not have: `localStorage` and `sessionStorage`, empty, until `vi.unstubAllGlobals()`. */
export function stubStorage(): void {
  for (const name of ['localStorage', 'sessionStorage']) vi.stubGlobal(name, memoryStorage());
}

function memoryStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}
