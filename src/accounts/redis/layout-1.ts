import type { CopyLine, Restored } from './copy.ts';
import { escapeGlob, type Run, scan } from './layout.ts';

/**
 * Layout 1, which earlier versions wrote, is read by backups and by restores alone. A name there was `{<tag>}:<part>` behind the
 * prefix, or `{<tag>}` alone; the tag said whose it was: `org:`, `pay:` and `key:` held records, `reply:` an answer.
 */

/** Parts that one script copies, in the order in which a restore needs them. */
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

/** Names that a backup copies together: those of an organization, of a payment, of a key alone, or one reply. */
export async function* groupsOfLayout1(run: Run, keyPrefix: string): AsyncGenerator<readonly string[]> {
  const seen = new Set<string>();
  for await (const name of scan(run, `${escapeGlob(keyPrefix)}:{*`)) {
    const tag = /^\{([^}]*)\}/.exec(name.slice(keyPrefix.length + 1))?.[1] ?? '';
    const start = `${keyPrefix}:{${tag}}`;
    if (seen.has(tag)) continue;
    seen.add(tag);
    if (/^(org|pay|key):/.test(tag)) yield PARTS.map((part) => `${start}:${part}`);
    if (tag.startsWith('reply:')) yield [start];
  }
}

/**
 * Puts a line of layout 1 where layout 2 has it. Two values changed their form: units are fields of the organization now, and each
 * key is a value of its own. Lists are passed over: they are made anew.
 */
export async function restoreLayout1(restored: Restored, line: CopyLine): Promise<void> {
  const { names } = restored;
  const [, tag = '', part = ''] = /^\{([^}]*)\}(?::(.*))?$/.exec(line.name) ?? [];
  const [kind = ''] = tag.split(':', 1);
  const id = tag.slice(kind.length + 1);
  const put = async (name: string): Promise<void> => {
    await restored.add(name, line);
    await restored.list(name);
  };
  if (kind === 'reply') return await put(`${names.root}reply:${id}`);
  if (part === 'keys') return await putKeys(restored, line);
  if (part === 'revoked') return await putRevocations(restored, line);
  if (kind === 'org') return await putOrganization({ ...restored, line, put }, unescaped(id), part);
  if (kind === 'pay' && part === 'payment') {
    await put(names.payment(id));
    // Named the claim's entry in the list of those that were open.
    await restored.redis.hdel(names.payment(id), 'claim');
  }
}

async function putOrganization(
  restored: Restored & { readonly line: CopyLine; put(name: string): Promise<void> },
  id: string,
  part: string,
): Promise<void> {
  const { names, redis, put } = restored;
  switch (part) {
    case 'profile':
      return await put(names.organization(id));
    case 'units':
      return void (await redis.hset(names.organization(id), await readHash(restored, restored.line)));
    case 'ledger':
      return await put(names.ledger(id));
    case 'grants':
      return await put(names.grants(id));
    case 'holds':
      return await put(names.holds(id));
    case 'resolved-holds':
      return await put(names.resolvedHolds(id));
    default:
  }
}

/** Records of keys by id, as JSON. */
async function putKeys(restored: Restored, line: CopyLine): Promise<void> {
  for (const [id, record] of Object.entries(await readHash(restored, line))) {
    const { id: _, ...fields } = JSON.parse(record) as Readonly<Record<string, string | number | null>>; // of a KeyRecord
    const known = Object.entries(fields).flatMap(([field, value]) => (value === null ? [] : [field, value]));
    await restored.redis.hset(restored.names.key(id), ...known);
    await restored.list(restored.names.key(id));
  }
}

/** When keys were revoked, by id. Came behind the keys. */
async function putRevocations(restored: Restored, line: CopyLine): Promise<void> {
  for (const [id, atMs] of Object.entries(await readHash(restored, line)))
    await restored.redis.hset(restored.names.key(id), 'revokedAtMs', atMs);
}

/** What the line holds, by way of a name that is there for a moment. */
async function readHash({ redis, names, add }: Restored, line: CopyLine): Promise<Record<string, string>> {
  const name = `${names.root}restoring`;
  await add(name, line);
  const fields = await redis.hgetall(name);
  await redis.del(name);
  return fields;
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
