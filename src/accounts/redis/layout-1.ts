import type { Redis } from 'ioredis';
import { escapeGlob, type Names, type RedisRun, scan } from './layout.ts';

/**
 * Layout 1, which earlier versions wrote, is read by backups and restores alone. Behind the deployment's prefix a name was
 * `{<tag>}:<part>`, or `{<tag>}` alone; the tag said whose it was: `org:`, `pay:` and `key:` had records, `reply:` an answer.
 */

/** Parts with a tag, in the order in which a restore needs them. Left out are lists, which a restore makes anew. */
const PARTS = [
  'profile',
  'units',
  'ledger',
  'grants',
  'holds',
  'resolved-holds',
  'payment',
  'keys',
  'revoked',
] as const;

/** Names that a backup copies together: the names of an organization, of a payment, of a key alone, or one reply. */
export async function* groupsOfLayout1(run: RedisRun, keyPrefix: string): AsyncGenerator<readonly string[]> {
  const seen = new Set<string>();
  for await (const name of scan(run, `${escapeGlob(keyPrefix)}:{*`)) {
    const tag = /^\{([^}]*)\}/.exec(name.slice(keyPrefix.length + 1))?.[1] ?? '';
    if (seen.has(tag)) continue;
    seen.add(tag);
    const start = `${keyPrefix}:{${tag}}`;
    if (/^(org|pay|key):/.test(tag)) yield PARTS.map((part) => `${start}:${part}`);
    if (tag.startsWith('reply:')) yield [start];
  }
}

/** One line of a backup, and where it is put. */
export interface RestoredLine {
  readonly redis: Redis;
  readonly names: Names;
  /** The line's own name, without the prefix. */
  readonly name: string;
  /** Writes the value, or the next rows, of the line under a name. */
  write(name: string): Promise<void>;
  /** Puts the record of this name on the lists that lead to it. */
  list(name: string): Promise<void>;
}

/**
 * Puts a line of layout 1 where layout 2 has it. Two values have another form there: units are fields of the organization, and
 * each key is a value of its own.
 */
export async function restoreLayout1(line: RestoredLine): Promise<void> {
  const { redis, names } = line;
  const [, tag = '', part = ''] = /^\{([^}]*)\}(?::(.*))?$/.exec(line.name) ?? [];
  const [kind = ''] = tag.split(':', 1);
  const rest = tag.slice(kind.length + 1);
  if (part === 'keys') return await putKeys(line);
  if (part === 'revoked') return await putRevocations(line);
  if (part === 'units') {
    await redis.hset(names.organization(unescaped(rest)), await readHash(line));
    return;
  }
  const name = nameOf(names, kind, part, rest);
  if (name === null) return;
  await line.write(name);
  await line.list(name);
  // It named the payment's entry in a list that is no more.
  if (part === 'payment') await redis.hdel(name, 'claim');
}

/** Null for a list. */
function nameOf(names: Names, kind: string, part: string, rest: string): string | null {
  if (kind === 'reply') return `${names.root}reply:${rest}`;
  if (kind === 'pay' && part === 'payment') return names.payment(rest);
  if (kind !== 'org') return null;
  const id = unescaped(rest);
  switch (part) {
    case 'profile':
      return names.organization(id);
    case 'ledger':
      return names.ledger(id);
    case 'grants':
      return names.grants(id);
    case 'holds':
      return names.holds(id);
    case 'resolved-holds':
      return names.resolvedHolds(id);
    default:
      return null;
  }
}

/** Records of keys by id, as JSON. */
async function putKeys(line: RestoredLine): Promise<void> {
  const { redis, names } = line;
  for (const [id, record] of Object.entries(await readHash(line))) {
    // Written from a KeyRecord.
    const { id: _, ...fields } = JSON.parse(record) as Readonly<Record<string, string | number | null>>;
    const known = Object.entries(fields).flatMap(([field, value]) => (value === null ? [] : [field, value]));
    await redis.hset(names.key(id), ...known);
    await line.list(names.key(id));
  }
}

/** When keys were revoked, by id. Their records came before. */
async function putRevocations(line: RestoredLine): Promise<void> {
  const { redis, names } = line;
  for (const [id, atMs] of Object.entries(await readHash(line)))
    await redis.hset(names.key(id), 'revokedAtMs', atMs);
}

/** What the line holds, by way of a name that is there for a moment. */
async function readHash({ redis, names, write }: RestoredLine): Promise<Record<string, string>> {
  const name = `${names.root}restoring`;
  await write(name);
  const fields = await redis.hgetall(name);
  await redis.del(name);
  return fields;
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
