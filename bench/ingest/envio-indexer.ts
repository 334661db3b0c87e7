import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../core/process/free-port.ts';
import { startPostgres } from '../entities/postgres.ts';
import type { ChainHistory } from '../lab/chain-history.ts';
import type { IndexedIn, Indexer } from '../lab/indexers.ts';
import { installPeer, type ProcessOptions, startProcess } from '../lab/processes.ts';
import type { BenchContext } from '../lab/run.ts';

const ROOT = fileURLToPath(new URL('./envio', import.meta.url));
const BINARY = 'node_modules/envio-linux-x64/bin/envio';
const PROJECT = ['config.yaml', 'schema.graphql', 'src', 'package.json'];
const RUN_TIMEOUT_MS = 900_000;
const SYNC_STARTED = 'The indexer storage is ready. Starting indexing!';
const CAUGHT_UP = 'All chains are caught up to end blocks.';

/**
 * Envio over JSON-RPC alone, with a PostgreSQL of its own and without Hasura: nothing is fetched from a network. Its time is from its tables
 * being ready to its last write; code generation and start-up are not counted. Null where it cannot be installed.
 */
export function envioIndexer(context: BenchContext, history: ChainHistory): Indexer | null {
  const problem = installPeer(ROOT, BINARY);
  if (problem === undefined) return { index: () => runEnvio(context, history) };
  context.say(`Envio cannot be installed: ${problem}`);
  return null;
}

async function runEnvio({ workspace }: BenchContext, history: ChainHistory): Promise<IndexedIn> {
  const postgres = await startPostgres(workspace);
  const project = mkdtempSync(join(workspace.dir, 'envio-'));
  for (const file of PROJECT) cpSync(join(ROOT, file), join(project, file), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  const { from, to } = history.range();
  const environment = {
    // Its `pnpm` is ours: the packages are those of the lock file.
    PATH: `${ROOT}:${process.env['PATH'] ?? ''}`,
    ENVIO_BENCH_FROM: String(from),
    ENVIO_BENCH_TO: String(to),
    ENVIO_BENCH_TOKEN: history.token,
    ENVIO_BENCH_RPC_URL: history.chain.url,
    ENVIO_PG_HOST: postgres.environment.PGHOST,
    ENVIO_PG_PORT: '5432',
    ENVIO_PG_USER: postgres.environment.PGUSER,
    ENVIO_PG_DATABASE: postgres.environment.PGDATABASE,
    ENVIO_HASURA: 'false',
    ENVIO_INDEXER_PORT: String(await freePort()),
    TUI_OFF: 'true',
    LOG_STRATEGY: 'ecs-console',
  };
  const times = new Map<string, number>();
  /** Runs a program to its end, or until it logs a message: the indexer stays when it has caught up. */
  const run = async (options: Pick<ProcessOptions, 'command' | 'args' | 'cwd'>, lastMessage?: string) => {
    let markDone: (code: number) => void = () => undefined;
    const done = new Promise<number>((resolve) => {
      markDone = resolve;
    });
    const child = startProcess(workspace, {
      ...options,
      environment,
      onLine(line) {
        if (!line.startsWith('{')) return;
        const { message = '', '@timestamp': at = '' } = JSON.parse(line) as Record<string, string>; // Elastic's format
        times.set(message, Date.parse(at));
        if (message === lastMessage) markDone(0);
      },
    });
    const code = await Promise.race([
      child.exited,
      done,
      sleep(RUN_TIMEOUT_MS, 'late' as const, { ref: false }),
    ]);
    await child.stop();
    if (code !== 0) throw new Error(`Envio: ${code}: ${child.lastLines().join(' ')}`.slice(0, 1_000));
  };
  await run({ command: join(ROOT, BINARY), args: ['codegen'], cwd: project });
  const indexer = { command: process.execPath, args: ['src/Index.res.js'], cwd: join(project, 'generated') };
  await run(indexer, CAUGHT_UP);
  const { rows } = await postgres.ask('SELECT count(*) FROM "Settlement"');
  await postgres.remove();
  if (Number(rows[0]?.[0]) !== history.settlements())
    throw new Error(`Envio indexed ${rows[0]?.[0]} of ${history.settlements()} settlements`);
  const [started, ended] = [times.get(SYNC_STARTED), times.get(CAUGHT_UP)];
  if (started === undefined || ended === undefined) throw new Error('Envio did not log its sync');
  return { startUpMs: 0, syncMs: ended - started };
}
