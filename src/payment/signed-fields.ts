/** Shapes of the texts inside a signed payment. */

export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** 32 bytes, as EIP-3009 has its nonces. */
export const NONCE = /^0x[0-9a-fA-F]{64}$/;
/** A uint256 has at most 78 digits. */
export const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

/** Reads fields of an object of JSON, each only in its shape; null for anything but an object. */
export function fieldReader(raw: unknown): ((key: string, shape: RegExp) => string | undefined) | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const fields = raw as Readonly<Record<string, unknown>>; // an object of JSON; every field is checked here
  return (key, shape) => {
    const value = fields[key];
    return typeof value === 'string' && shape.test(value) ? value : undefined;
  };
}

/** A field that should be an object itself. */
export function innerOf(raw: unknown, key: string): unknown {
  return typeof raw === 'object' && raw !== null
    ? (raw as Readonly<Record<string, unknown>>)[key]
    : undefined; // as above
}
