import { setTimeout as delay } from 'node:timers/promises';
import { claimNumber } from '../../clickhouse/engine/claim.ts';
import type { Guard, Writer } from '../../clickhouse/engine/engine.ts';
import { highestToken } from '../../clickhouse/engine/guard.ts';
import { sql, text, texts, trustedText, uint8, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { FENCES } from '../../clickhouse/tables/ingest-state.ts';

/**
 * Table `fences`: the tokens that the engine checks writes against (clickhouse/engine/guard.ts), and the heartbeats of their owners.
 * It alone decides which process may write; a lease in Redis only decides which one should try.
 */

/** The scope of the process that reads the catalogue's files: catalogue, regrades, endpoints, identities. */
export const CATALOGUE_SCOPE = 'catalogue';
/** Its token is the number of the newest pass whose catalogue is published: rows graded by an older one are refused. */
export const GRADES_SCOPE = 'grades';

/** Heartbeat interval of an owner, and how long a heartbeat is valid. By the engine's clock only. */
export const BEAT_EVERY_MS = 3_000;
const BEAT_BELIEVED_SECONDS = 12;

const MAX_SECONDS = 30;
/** After a collision each claimant adds a random step up to this. */
const STEP_MAX = 16;
const OWNERS_MAX = 1_000;

/**
 * Claims a token above all earlier ones of the scope and at least `atLeast`. Once this resolves, the engine refuses writes that begin
 * under an older token.
 */
export async function claimFence(
  writer: Writer,
  { scope, owner, atLeast }: { readonly scope: string; readonly owner: string; readonly atLeast: bigint },
): Promise<Guard> {
  const token = await claimNumber(
    {
      highest: () => highestToken(writer, scope),
      claim: (number) => writeFence(writer, { scope, token: number }, owner, false),
      isClaimedByOthers: (number) => isClaimedTwice(writer, { scope, token: number }, owner),
    },
    { atLeast, stepMax: STEP_MAX },
  );
  if (token === null) throw new Error(`no token for ${scope}: other processes claim them all`);
  return { scope, token };
}

async function isClaimedTwice(writer: Writer, { scope, token }: Guard, owner: string): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'fence-claimed',
    sql: sql`SELECT count() FROM fences WHERE scope = ${text(scope)} AND token = ${uint64(token)} AND owner != ${text(owner)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > 0;
}

/** A claim, a heartbeat or, with `ended`, the release by its owner. The token stays the highest in any case. */
export async function writeFence(
  writer: Writer,
  { scope, token }: Guard,
  owner: string,
  ended: boolean,
): Promise<void> {
  await writer.run({
    name: 'fence-write',
    sql: sql`INSERT INTO ${trustedText(FENCES.name)} (scope, token, owner, ended)
      SELECT ${text(scope)}, ${uint64(token)}, ${text(owner)}, ${uint8(ended ? 1 : 0)}`,
    maxSeconds: MAX_SECONDS,
  });
}

/** Sends heartbeats until the signal aborts. A missed one does not matter. */
export async function keepBeating(
  writer: Writer,
  { guard, owner, signal }: { readonly guard: Guard; readonly owner: string; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await delay(BEAT_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await writeFence(writer, guard, owner, false).catch(() => undefined);
  }
}

/** The scopes among these that another owner holds with a recent heartbeat. */
export async function heldByOthers(
  writer: Pick<Writer, 'rows'>,
  scopes: readonly string[],
  owner: string,
): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'fence-held',
    // Only the newest token of each scope counts: an overtaken process may still send heartbeats for its old one.
    sql: sql`SELECT scope FROM (
        SELECT scope, argMax((owner, ended, beat_at), (token, beat_at)) AS newest FROM fences
        WHERE has(${texts(scopes)}, scope) GROUP BY scope)
      WHERE newest.1 != ${text(owner)} AND newest.2 = 0
        AND newest.3 > now64(3) - toIntervalSecond(${uint32(BEAT_BELIEVED_SECONDS)})`,
    maxSeconds: MAX_SECONDS,
    maxRows: OWNERS_MAX,
  });
  return rows.map(([scope]) => String(scope));
}

/** From now on rows that were graded by a catalogue before this pass are refused. */
export async function raiseGrades(writer: Writer, pass: number): Promise<void> {
  await writeFence(writer, { scope: GRADES_SCOPE, token: BigInt(pass) }, '', true);
}

/** The newest pass whose catalogue is published; null if there is none. */
export async function publishedPass(writer: Pick<Writer, 'rows'>): Promise<bigint | null> {
  const { rows } = await writer.rows({
    name: 'fence-grades',
    sql: sql`SELECT max(token), count() FROM fences WHERE scope = ${text(GRADES_SCOPE)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [token = 0, count = 0] = rows[0] ?? [];
  return Number(count) === 0 ? null : BigInt(String(token));
}
