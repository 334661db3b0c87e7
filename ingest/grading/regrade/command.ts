import { setMaxListeners } from 'node:events';
import { accountBytes, accountText } from '../../../clickhouse/engine/account.ts';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { type Sql, sql, text, texts, uint8s, uint32 } from '../../../clickhouse/engine/sql.ts';
import { publicFacts } from '../../../clickhouse/guest/views/facts.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { RELAYER_DECISIONS } from '../../../clickhouse/tables/catalogues.ts';
import { commandText } from '../../../core/command-text.ts';
import type { Config } from '../../../core/config/config.ts';
import { SEEN } from '../../../core/domain/evidence.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';
import { loadAccepted } from '../../proposals/decisions.ts';
import { createVersions, highestVersion } from '../../write/versions.ts';
import type { Catalogue } from '../catalogue.ts';
import { type CatalogueChange, catalogueChanges } from '../changes.ts';
import { readPublishedCatalogue, readPublishedListed } from '../published.ts';
import { createCatalogueSources } from '../sources.ts';
import { loadSigners } from '../supported.ts';
import { REGRADE_SETTINGS } from './batch.ts';
import { awaitService, isIngestRunning } from './follow.ts';
import {
  type CatalogueSql,
  IS_STALE,
  PUBLISHED_CATALOGUE,
  recordedKeys,
  regradedSql,
  touchedBy,
} from './grade-sql.ts';
import { changedKinds, unfinishedPasses } from './passes.ts';
import { changeCatalogue, type SweepOutcome, type SweepProgress, sweepPasses } from './regrade.ts';

/** What one change of the catalogue does to rows of one grade. */
export interface PreviewLine {
  /** `relayer eip155:8453 0x…`, `payee …`, `code …`; `unfinished pass` where a pass that was begun would do it. */
  readonly change: string;
  readonly from: Grade;
  /** Null: the row goes, because its payee is catalogued no more. */
  readonly to: Grade | null;
  readonly rows: number;
  /** Days of the first and the last of them, UTC. */
  readonly firstDay: string;
  readonly lastDay: string;
}

export interface Grade {
  readonly method: string;
  readonly facilitator: string;
}

export interface RegradePreview {
  readonly changes: readonly CatalogueChange[];
  /** A row that two changes concern is in the lines of both, and once in `rows`. */
  readonly lines: readonly PreviewLine[];
  readonly rows: number;
}

/** The changes travel with every statement as parameters, which the engine bounds to 128 KiB each: 43 bytes an address. */
const PREVIEW_CHANGES_MAX = 2_500;
const PREVIEW_MAX_SECONDS = 900;
const LINES_MAX = 1_000_000;

/** What a regrade to `wanted` would change. Writes nothing. Throws `UserError` when there are too many changes. */
export async function previewRegrade(writer: Writer, wanted: Catalogue): Promise<RegradePreview> {
  const changes = catalogueChanges(await readPublishedCatalogue(writer), wanted);
  if (changes.length > PREVIEW_CHANGES_MAX) {
    throw new UserError(
      `${changes.length} entries of the catalogue change; a preview takes ${PREVIEW_CHANGES_MAX} at most`,
    );
  }
  const unfinished = await unfinishedPasses(writer);
  const named = changedTables(changes);
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  const changed = Object.fromEntries(kinds.map((kind) => [kind, CHANGED_KEYS[kind]]));
  const recorded = recordedKeys(unfinished, await changedKinds(writer, unfinished));
  const found = await staleRows(writer, { named, touched: touchedBy([changed, recorded]) });
  const lines = new Map<string, PreviewLine>();
  for (const stale of found) for (const change of stale.changes) addTo(lines, { ...stale, change });
  const rows = found.reduce((sum, stale) => sum + stale.rows, 0);
  return { changes, lines: [...lines.values()].sort(byChangeAndDay), rows };
}

const CHANGED_KEYS = {
  relayer: sql`SELECT chain, address FROM changed_relayers`,
  payee: sql`SELECT chain, address FROM changed_payees`,
  code: sql`SELECT code FROM changed_codes`,
};

/** The changes as named subqueries, so that each value travels once however often it is used. */
function changedTables(changes: readonly CatalogueChange[]): Sql {
  const relayers = changes.flatMap((change) => (change.kind === 'relayer' ? [change] : []));
  const payees = changes.flatMap((change) => (change.kind === 'payee' ? [change] : []));
  const codes = changes.flatMap((change) => (change.kind === 'code' ? [change] : []));
  const chainsOf = (placed: readonly { readonly chain: string }[]) => texts(placed.map(({ chain }) => chain));
  const addressesOf = (placed: readonly { readonly address: string }[]) =>
    texts(placed.map(({ address }) => address));
  const place = sql`entry.1 AS chain, ${accountBytes(sql`entry.2`)} AS address`;
  return sql`WITH
    changed_relayers AS (SELECT ${place}, entry.3 AS facilitator, toDate(entry.4) AS first_seen FROM (SELECT arrayJoin(arrayZip(
      ${chainsOf(relayers)}, ${addressesOf(relayers)}, ${texts(relayers.map(({ after }) => after?.facilitator ?? ''))},
      ${texts(relayers.map(({ after }) => after?.firstSeen ?? '1970-01-01'))})) AS entry)),
    changed_payees AS (SELECT ${place}, entry.3 AS kept FROM (SELECT arrayJoin(arrayZip(
      ${chainsOf(payees)}, ${addressesOf(payees)}, ${uint8s(payees.map(({ after }) => (after ? 1 : 0)))})) AS entry)),
    changed_codes AS (SELECT entry.1 AS code, entry.2 AS facilitator FROM (SELECT arrayJoin(arrayZip(
      ${texts(codes.map(({ code }) => code))}, ${texts(codes.map(({ after }) => after ?? ''))})) AS entry))`;
}

/** The published catalogue with the changes laid over it. */
const WANTED_CATALOGUE: CatalogueSql = {
  relayers: sql`SELECT chain, address, facilitator, first_seen FROM (${PUBLISHED_CATALOGUE.relayers})
    WHERE (chain, address) NOT IN (${CHANGED_KEYS.relayer})
    UNION ALL SELECT chain, address, facilitator, first_seen FROM changed_relayers WHERE facilitator != ''`,
  payees: sql`SELECT chain, address FROM (${PUBLISHED_CATALOGUE.payees}) WHERE (chain, address) NOT IN (${CHANGED_KEYS.payee})
    UNION ALL SELECT chain, address FROM changed_payees WHERE kept = 1`,
  codes: sql`SELECT code, facilitator FROM (${PUBLISHED_CATALOGUE.codes}) WHERE code NOT IN (${CHANGED_KEYS.code})
    UNION ALL SELECT code, facilitator FROM changed_codes WHERE facilitator != ''`,
};

/** An entry may change without a change for the row: a relayer that counts from a later day on, and the row is later still. */
const IS_OWNED_OTHERWISE = sql`facilitator != new_facilitator`;
const isSeenOtherwise = (bit: number): Sql => sql`bitAnd(bitXor(seen, new_seen), ${uint32(bit)}) != 0`;

interface StaleRows extends Omit<PreviewLine, 'change'> {
  readonly changes: readonly string[];
}

async function staleRows(
  writer: Writer,
  { named, touched }: { readonly named: Sql; readonly touched: Sql },
): Promise<StaleRows[]> {
  const graded = regradedSql(
    sql`SELECT * FROM settlements FINAL PREWHERE ${touched} WHERE del = 0`,
    WANTED_CATALOGUE,
  );
  const placed = (address: Sql) => sql`concat(chain, ' ', ${address})`;
  const { rows } = await writer.rows({
    name: 'preview-regrade',
    sql: sql`${named}
      SELECT arrayFilter(change -> change != '', [
          if((chain, relayer) IN (${CHANGED_KEYS.relayer}) AND (${IS_OWNED_OTHERWISE} OR ${isSeenOtherwise(SEEN.relayer_named)}),
            concat('relayer ', ${placed(accountText('relayer'))}), ''),
          if((chain, payee) IN (${CHANGED_KEYS.payee}) AND (new_del != del OR ${isSeenOtherwise(SEEN.payee_catalogued)}),
            concat('payee ', ${placed(accountText('payee'))}), ''),
          if(builder_facilitator IN (${CHANGED_KEYS.code}) AND ${IS_OWNED_OTHERWISE},
            concat('code ', builder_facilitator), '')]) AS changes,
        toString(method), facilitator, new_method, new_facilitator, new_del,
        count(), toString(min(toDate(block_time))), toString(max(toDate(block_time)))
      FROM (${graded}) WHERE ${IS_STALE}
      GROUP BY changes, method, facilitator, new_method, new_facilitator, new_del`,
    maxSeconds: PREVIEW_MAX_SECONDS,
    maxRows: LINES_MAX,
    settings: REGRADE_SETTINGS,
  });
  return rows.map(([changes, ...rest]) => {
    const [method = '', facilitator = '', toMethod = '', toFacilitator = '', gone = '', count = '', ...days] =
      rest.map(String);
    const [firstDay = '', lastDay = ''] = days;
    const names = (changes as readonly string[]).map(String); // decoder of our own Array(String)
    return {
      changes: names.length === 0 ? ['unfinished pass'] : names,
      from: { method, facilitator },
      to: gone === '1' ? null : { method: toMethod, facilitator: toFacilitator },
      rows: Number(count),
      firstDay,
      lastDay,
    };
  });
}

function byChangeAndDay(a: PreviewLine, b: PreviewLine): number {
  if (a.change !== b.change) return a.change < b.change ? -1 : 1;
  return a.firstDay < b.firstDay ? -1 : 1;
}

function addTo(lines: Map<string, PreviewLine>, added: PreviewLine): void {
  const { change, from, to, rows, firstDay, lastDay } = added;
  const key = JSON.stringify([change, from, to]);
  const line = lines.get(key);
  lines.set(key, {
    change,
    from,
    to,
    rows: rows + (line?.rows ?? 0),
    firstDay: line === undefined || firstDay < line.firstDay ? firstDay : line.firstDay,
    lastDay: line === undefined || lastDay > line.lastDay ? lastDay : line.lastDay,
  });
}

/** The options of the command line, as commander gives them. */
export interface RegradeArguments {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface RegradeCommandDeps {
  readonly config: Pick<Config, 'configFile' | 'catalogue' | 'chains'>;
  readonly access: EngineAccess;
  readonly log: Log;
  readonly signal: AbortSignal;
  say(line: string): void;
}

const MAX_SECONDS = 30;

/**
 * `settlement-index regrade`: makes the catalogue of the files the published one and the rows follow it, or only reports what
 * that would change. Throws `UserError` for what the user must correct.
 *
 * While an ingest process runs, the command changes nothing itself: that process reads the same files and would go on grading by its
 * own catalogue; the command waits until it has followed, and shows how far it is.
 */
export async function regrade(deps: RegradeCommandDeps, given: RegradeArguments): Promise<void> {
  const { access, config, log, signal } = deps;
  setMaxListeners(0, signal);
  if (!given.dryRun) await migrate(access, log, { facts: publicFacts(config) });
  const writer = createWriter(access, log);
  try {
    await requireTables(writer);
    const [signers, listed] = [await loadSigners(writer), await readPublishedListed(writer)];
    const wanted = createCatalogueSources(config, log).read(
      signers,
      listed,
      await loadAccepted(writer, config.catalogue),
    );
    if (wanted === null) throw new UserError('the catalogue cannot be read');
    if (given.dryRun) printPreview(deps, given, await previewRegrade(writer, wanted));
    else printOutcome(deps, given, await follow(deps, given, writer, wanted));
  } finally {
    await writer.close();
  }
}

/** The newest table that a catalogue is read from. */
async function requireTables(writer: Writer): Promise<void> {
  const { rows } = await writer.rows({
    name: 'regrade-tables',
    sql: sql`SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = ${text(RELAYER_DECISIONS.name)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  if (Number(rows[0]?.[0]) === 0)
    throw new UserError(`the tables are not up to date: ${commandText('migrate')} first`);
}

async function follow(
  deps: RegradeCommandDeps,
  given: RegradeArguments,
  writer: Writer,
  wanted: Catalogue,
): Promise<SweepOutcome> {
  const { log, signal, say } = deps;
  const onProgress = given.json ? () => undefined : (progress: SweepProgress) => say(progressLine(progress));
  if (await isIngestRunning(writer)) {
    if (!given.json) say('the running service takes the change; waiting for it');
    const followed = await awaitService({ writer, wanted, signal, onProgress });
    if (followed !== null) return followed;
    // The service has ended: the pass that it left is ours.
  }
  const versions = createVersions(await highestVersion(writer));
  const regrading = { writer, versions, log, signal, onProgress };
  const { pass } = await changeCatalogue(regrading, wanted);
  return sweepPasses(regrading, pass === null ? [] : [pass]);
}

function printOutcome({ say }: RegradeCommandDeps, { json }: RegradeArguments, outcome: SweepOutcome): void {
  const { pass, rowsChanged } = outcome;
  if (json) say(JSON.stringify({ pass, rows: rowsChanged }));
  else if (pass === null) say('nothing to do: every row follows the catalogue');
  else say(`pass ${pass} done: ${rowsChanged} rows regraded`);
}

function printPreview(
  { say }: RegradeCommandDeps,
  { json }: RegradeArguments,
  preview: RegradePreview,
): void {
  if (json) {
    say(JSON.stringify(preview));
    return;
  }
  for (const line of previewLines(preview)) say(line);
}

/** The preview for a person. */
export function previewLines({ changes, lines, rows }: RegradePreview): string[] {
  const gradeText = (grade: { method: string; facilitator: string } | null) =>
    grade === null
      ? 'removed'
      : `${grade.method}${grade.facilitator === '' ? '' : ` (${grade.facilitator})`}`;
  const grades = ({ from, to }: PreviewLine) =>
    gradeText(from) === gradeText(to)
      ? `${gradeText(from)} for another reason`
      : `${gradeText(from)} → ${gradeText(to)}`;
  const concerned = new Set(lines.map(({ change }) => change)).size;
  const idle = changes.length - Math.min(changes.length, concerned);
  const isShared = lines.reduce((sum, line) => sum + line.rows, 0) > rows;
  return [
    `${changes.length} entries of the catalogue change${idle > 0 ? `, ${idle} of them without a row that does` : ''}`,
    ...lines.map(
      (line) => `${line.change}: ${line.rows} rows, ${grades(line)}, ${line.firstDay} to ${line.lastDay}`,
    ),
    `total: ${rows} rows would be regraded${isShared ? ' (one that two entries change is in the lines of both)' : ''}; nothing was written`,
  ];
}

export function progressLine({
  pass,
  rowsLookedAt,
  rowsTotal,
  rowsChanged,
  etaSeconds,
}: SweepProgress): string {
  const percent = ((100 * rowsLookedAt) / Math.max(1, rowsTotal)).toFixed(1);
  const eta = etaSeconds === null ? 'unknown' : `${etaSeconds} s`;
  return `pass ${pass}: ${percent} %, ${rowsLookedAt} of ${rowsTotal} rows looked at, ${rowsChanged} regraded, ETA ${eta}`;
}
