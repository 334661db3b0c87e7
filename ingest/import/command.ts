import { setMaxListeners } from 'node:events';
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
import { type ImportFile, readImportFiles } from './files.ts';
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
  const files = await readImportFiles(
    {
      parquet: given.parquet ?? [],
      logs: given.logs ?? [],
      transactions: given.transactions ?? [],
      blocks: given.blocks ?? [],
    },
    chainIdOf(chain.chain),
  );
  if (files.length === 0) throw importProblems(["no files are named (--parquet 'directory/*.parquet')"]);
  for (const line of fileLines(files)) say(line);
  const options: ImportOptions = {
    fromBlock: given.fromBlock ?? null,
    toBlock: given.toBlock ?? null,
    skipIncomplete: given.skipIncomplete === true,
    assumeFinal: given.assumeFinal === true,
    allContracts: given.allContracts === true,
    dryRun: given.dryRun === true,
  };
  const access = await openEngine();
  await migrate(access, log, { facts: publicFacts(config) });
  const writer = createWriter(access, log);
  const progress = createImportProgress(
    files.reduce((sum, { kind, rows }) => sum + (kind === 'logs' ? rows : 0), 0),
  );
  const reporting = setInterval(
    () => say(progress.line()),
    deps.isTerminal ? REPORT_EVERY_TERMINAL_MS : REPORT_EVERY_LOG_MS,
  );
  try {
    const versions = createVersions(await highestVersion(writer));
    const grading = await openGrading({ config, writer, versions, log, signal, dryRun: options.dryRun });
    const summary = await runImport(
      {
        config: chain,
        grading,
        writer,
        versions,
        log,
        signal,
        progress,
        ...(deps.limits && { limits: deps.limits }),
      },
      files,
      options,
    );
    say(progress.line());
    for (const line of summaryLines(summary, options.dryRun)) say(line);
    return summary;
  } finally {
    clearInterval(reporting);
    await writer.close();
  }
}

/** Throws `UserError` for a chain that is not configured, and for one of Solana, whose transactions are no logs. */
function chainNamed(config: Config, name: string | undefined): ChainConfig {
  const found = configuredChain(config, name);
  if (namespaceOf(found.chain) !== 'eip155')
    throw importProblems([
      `files hold logs, which ${found.facts.slug} has none of: index it from a node (docs/operators.md)`,
    ]);
  return found;
}

function configuredChain({ chains }: Config, name: string | undefined): ChainConfig {
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
