import type { SqlQuestion } from './wire.ts';

/**
 * A query as the fragment of an address, which browsers never send to a server: `#q=SELECT+1&tier=standard&p.wallet=0x…`. Pure: also
 * run by tests outside of a browser. A key has no place in it.
 */

const PARAM_PREFIX = 'p.';
export const DEFAULT_TIER = 'standard';

export function fragmentOf({ sql, tier, params }: SqlQuestion): string {
  const fields = new URLSearchParams({ q: sql });
  if (tier !== DEFAULT_TIER) fields.set('tier', tier);
  for (const [name, value] of Object.entries(params)) fields.set(`${PARAM_PREFIX}${name}`, value);
  return `#${fields.toString()}`;
}

/** Null for a fragment that holds no query. */
export function readFragment(fragment: string): SqlQuestion | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const sql = fields.get('q');
  if (sql === null) return null;
  const params = [...fields].flatMap(([name, value]) =>
    name.startsWith(PARAM_PREFIX) ? [[name.slice(PARAM_PREFIX.length), value]] : [],
  );
  return { sql, tier: fields.get('tier') ?? DEFAULT_TIER, params: Object.fromEntries(params) };
}
