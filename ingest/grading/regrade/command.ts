import { setMaxListeners } from 'node:events';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { DEPOSIT_CONTRACTS } from '../../../clickhouse/tables/catalogues.ts';
import { commandText } from '../../../core/command-text.ts';
import type { Config } from '../../../core/config/config.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';
import { createVersions, highestVersion } from '../../write/versions.ts';
import type { Catalogue } from '../catalogue.ts';
import { readPublishedListed } from '../published.ts';
import { createCatalogueSources } from '../sources.ts';
import { loadSigners } from '../supported.ts';
import { awaitService, isIngestRunning } from './follow.ts';
import { type PreviewLine, previewRegrade, type RegradePreview } from './preview.ts';
import { changeCatalogue, type SweepOutcome, type SweepProgress, sweepPasses } from './regrade.ts';

/** The options of the command line, as commander gives them. */
export interface RegradeArguments {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface RegradeCommandDeps {
  readonly config: Pick<Config, 'configFile' | 'catalogue'>;
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
  if (!given.dryRun) await migrate(access, log);
  const writer = createWriter(access, log);
  try {
    await requireTables(writer);
    const [signers, listed] = [await loadSigners(writer), await readPublishedListed(writer)];
    const wanted = createCatalogueSources(config, log).read(signers, listed);
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
    sql: sql`SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = ${text(DEPOSIT_CONTRACTS.name)}`,
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
    // The service ended meanwhile: what it left is ours.
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
