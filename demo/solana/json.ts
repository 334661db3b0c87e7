/**
 * JSON as a Solana node writes it: amounts of lamports and other u64 are numbers without a point, also beyond 2^53, where `JSON.stringify`
 * cannot write them. Members that are undefined are left out.
 */
export function writeJson(value: unknown): string {
  if (value instanceof WrittenJson) return value.text;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
}

/** A value that is JSON text already: blocks keep their transactions so, which is small and quick to serve. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
