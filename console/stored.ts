/** Values in the storage of the browser. It may be full, or hold data of an older version: neither may stop a page. */

export function readStored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    localStorage.removeItem(name);
  }
}
