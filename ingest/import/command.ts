import { setMaxListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { publicFacts } from '../../clickhouse/guest/views/facts.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Config } from '../../core/config/config.ts';
import { chainIdOf, namespaceOf } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import { createVersions, highestVersion } from '../write/versions.ts';
import type { FileKind } from './columns.ts';
import { findFiles, type ImportFile, readImportFiles } from './files.ts';
import { openGrading } from './grading.ts';
import {
  createImportProgress,
  type ImportArguments,
  type ImportDeps,
  type ImportOptions,
} from './options.ts';
import { spanOf } from './plan.ts';
import { importProblems } from './problem.ts';
import { type ImportSummary, runImport, summaryLines } from './run.ts';
import { importSolana } from './solana.ts';

const REPORT_EVERY_TERMINAL_MS = 2_000;
const REPORT_EVERY_LOG_MS = 10_000;

/** Reads the files first, so that a wrong command line starts no engine. Throws `UserError` for what the user must correct. */
export async function importFiles(
  deps: {
    readonly config: Config;
    readonly openEngine: () => Promise<EngineAccess>;
    readonly log: Log;
    readonly signal: AbortSignal;
    /** Whether a person watches: progress is then shown more often. */
    readonly isTerminal: boolean;
    say(line: string): void;
    readonly limits?: NonNullable<ImportDeps['limits']>;
  },
  given: ImportArguments,
): Promise<ImportSummary> {
  const { config, openEngine, log, signal, say } = deps;
  setMaxListeners(0, signal); // every pause listens to it: many are no leak
  const chain = chainNamed(config, given.chain);
  const options: ImportOptions = {
    fromBlock: given.fromBlock ?? null,
    toBlock: given.toBlock ?? null,
    skipIncomplete: given.skipIncomplete === true,
    assumeFinal: given.assumeFinal === true,
    allContracts: given.allContracts === true,
    dryRun: given.dryRun === true,
  };
  const { lines, total, unit, run } = await (namespaceOf(chain.chain) === 'solana'
    ? filesOfSolana(chain, given, options)
    : filesOfLogs(chain, given, options));
  for (const line of lines) say(line);
  const access = await openEngine();
  await migrate(access, log, { facts: publicFacts(config) });
  const writer = createWriter(access, log);
  const progress = createImportProgress(total, { unit });
  const reporting = setInterval(
    () => say(progress.line()),
    deps.isTerminal ? REPORT_EVERY_TERMINAL_MS : REPORT_EVERY_LOG_MS,
  );
  try {
    const versions = createVersions(await highestVersion(writer));
    const grading = await openGrading({ config, writer, versions, log, signal, dryRun: options.dryRun });
    const { limits } = deps;
    const own = { config: chain, grading, writer, versions, log, signal, progress };
    const summary = await run({ ...own, ...(limits && { limits }) });
    say(progress.line());
    for (const line of summaryLines(summary, options.dryRun)) say(line);
    return summary;
  } finally {
    clearInterval(reporting);
    await writer.close();
  }
}

/** What the command line names, looked at and not yet read. */
interface NamedWork {
  /** In words. */
  readonly lines: readonly string[];
  readonly total: number;
  readonly unit: 'logs' | 'bytes';
  readonly run: (deps: ImportDeps) => Promise<ImportSummary>;
}

async function filesOfLogs(
  { chain }: ChainConfig,
  { parquet = [], logs = [], transactions = [], blocks = [] }: ImportArguments,
  options: ImportOptions,
): Promise<NamedWork> {
  const files = await readImportFiles({ parquet, logs, transactions, blocks }, chainIdOf(chain));
  if (files.length === 0) throw importProblems(["no files are named (--parquet 'directory/*.parquet')"]);
  return {
    lines: fileLines(files),
    total: files.reduce((sum, { kind, rows }) => sum + (kind === 'logs' ? rows : 0), 0),
    unit: 'logs',
    run: (deps) => runImport(deps, files, options),
  };
}

async function filesOfSolana(
  { facts, completeness }: ChainConfig,
  { parquet, logs, transactions, blocks = [] }: ImportArguments,
  options: ImportOptions,
): Promise<NamedWork> {
  if (parquet ?? logs ?? transactions)
    throw importProblems([
      `${facts.slug} has no logs: name answers of getBlock, a line each (--blocks 'directory/*.jsonl.gz', docs/import.md)`,
    ]);
  if (completeness === 'fee-payers')
    throw importProblems([
      `files hold whole blocks, and ${facts.slug} is configured to be read in part (completeness: fee-payers)`,
    ]);
  const files = await findFiles(blocks);
  if (files.length === 0)
    throw importProblems([`no file is named, or none matches (--blocks 'directory/*.jsonl.gz')`]);
  const total = await sizeOf(files);
  return {
    lines: [`blocks: ${files.length} files, ${(total / MEBIBYTE).toFixed(1)} MiB`],
    ...{ total, unit: 'bytes' },
    run: (deps) => importSolana(deps, files, options),
  };
}

async function sizeOf(files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of files) bytes += (await stat(path)).size;
  return bytes;
}

/** Throws `UserError` for a chain that is not configured. */
function chainNamed({ chains }: Config, name: string | undefined): ChainConfig {
  const slugs = chains.map(({ facts }) => facts.slug).join(', ');
  const [only, ...others] = chains;
  if (name === undefined) {
    if (only !== undefined && others.length === 0) return only;
    throw importProblems([`--chain is needed where several chains are configured (${slugs})`]);
  }
  const found = chains.find(({ chain, facts }) => facts.slug === name || chain === name);
  if (found === undefined)
    throw importProblems([`--chain ${name} is not configured; configured are ${slugs}`]);
  return found;
}

const MEBIBYTE = 1024 * 1024;

/** What files there are, one line a kind. */
export function fileLines(files: readonly ImportFile[]): string[] {
  return (['logs', 'transactions', 'blocks'] as const satisfies readonly FileKind[]).flatMap((kind) => {
    const some = files.filter((file) => file.kind === kind);
    if (some.length === 0) return [];
    const rows = some.reduce((sum, file) => sum + file.rows, 0);
    const mebibytes = some.reduce((sum, { bytes }) => sum + bytes, 0) / MEBIBYTE;
    const span = spanOf(some, kind);
    return [
      `${kind}: ${some.length} files, ${rows} rows, ${mebibytes.toFixed(1)} MiB${span ? `, blocks ${span.from} to ${span.to}` : ''}`,
    ];
  });
}
