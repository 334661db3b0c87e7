import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../support/figure.ts';
import { timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Workspace } from '../support/workspace.ts';
import { openEngineParser } from './engine-parser.ts';

/** `SELECT ((((…1`, never closed: some builds of node-sql-parser try every way to read each bracket. */

const PROCESS = fileURLToPath(new URL('./parse-process.cjs', import.meta.url));
const EXPONENTIAL_BUILDS = ['postgresql', 'redshift', 'noql'] as const;
const OTHER_BUILDS = [
  ...['athena', 'bigquery', 'db2', 'flinksql', 'hive', 'mariadb', 'mysql'],
  ...['snowflake', 'sqlite', 'transactsql', 'trino'],
] as const;
const HEAP_MEBIBYTES_MAX = 1_024;
const SECONDS_MAX = 60;
const FEW_BRACKETS = 8;
const SOME_BRACKETS = 12;
const MANY_BRACKETS = 16;
/** A query of 33 bytes. */
const FATAL_BRACKETS = 25;
const ENGINE_MS_MAX = 100;
const OTHER_BUILDS_MS_MAX = 1_000;
const GROWTH_MIN = 1.3;

interface Parse {
  /** Of the processor, so that a busy machine does not count. */
  readonly ms: number;
  readonly mebibytes: number;
}

export async function measureUnclosedBrackets({ workspace, quick, say }: BenchContext): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const build of EXPONENTIAL_BUILDS) figures.push(...(await growthOf(build, workspace, say)));
  figures.push(await slowestOfOthers(workspace, say), await engineFigure(workspace));
  if (!quick) figures.push(...(await largeFigures(workspace, say)));
  return figures;
}

async function growthOf(build: string, workspace: Workspace, say: BenchContext['say']): Promise<Figure[]> {
  const few = await parseApart(build, FEW_BRACKETS, workspace);
  const some = await parseApart(build, SOME_BRACKETS, workspace);
  if (few === null || some === null)
    throw new Error(`${build} did not get through ${SOME_BRACKETS} brackets`);
  const growth = (some.ms / few.ms) ** (1 / (SOME_BRACKETS - FEW_BRACKETS));
  say(
    `${build}: ${FEW_BRACKETS} brackets ${few.ms.toFixed(0)} ms, ${SOME_BRACKETS} ${some.ms.toFixed(0)} ms, ${growth.toFixed(2)} times for each more`,
  );
  return [
    shown(`unclosed-${SOME_BRACKETS}-${build}`, some.ms, 'ms'),
    {
      name: `unclosed-growth-${build}`,
      value: growth,
      unit: 'x',
      goal: `>=${GROWTH_MIN}`,
      ok: growth >= GROWTH_MIN,
    },
  ];
}

async function slowestOfOthers(workspace: Workspace, say: BenchContext['say']): Promise<Figure> {
  let slowest = 0;
  for (const build of OTHER_BUILDS) {
    const parse = await parseApart(build, MANY_BRACKETS, workspace);
    slowest = Math.max(slowest, parse?.ms ?? Number.POSITIVE_INFINITY);
  }
  say(
    `the other ${OTHER_BUILDS.length} builds: ${MANY_BRACKETS} brackets in at most ${slowest.toFixed(0)} ms`,
  );
  return {
    name: `unclosed-${MANY_BRACKETS}-other-builds-max`,
    value: slowest,
    unit: 'ms',
    goal: `<=${OTHER_BUILDS_MS_MAX}`,
    ok: slowest <= OTHER_BUILDS_MS_MAX,
  };
}

/** The engine refuses the same text, over HTTP, as the sandbox asks it. */
async function engineFigure(workspace: Workspace): Promise<Figure> {
  const parser = await openEngineParser(workspace, 'brackets');
  const ask = (brackets: number) => timed(() => parser.parse(`SELECT ${'('.repeat(brackets)}1`));
  await ask(1); // opens the connection
  const { ms, result } = await ask(FATAL_BRACKETS);
  return {
    name: `unclosed-${FATAL_BRACKETS}-engine`,
    value: ms,
    unit: 'ms',
    goal: `<=${ENGINE_MS_MAX}`,
    ok: ms <= ENGINE_MS_MAX && 'problem' in result,
  };
}

async function largeFigures(workspace: Workspace, say: BenchContext['say']): Promise<Figure[]> {
  const many = await parseApart('postgresql', MANY_BRACKETS, workspace);
  const fatal = await parseApart('postgresql', FATAL_BRACKETS, workspace);
  say(`postgresql: ${FATAL_BRACKETS} brackets ${fatal === null ? 'ended its process' : 'were answered'}`);
  return [
    shown(`unclosed-${MANY_BRACKETS}-postgresql`, many?.ms ?? SECONDS_MAX * 1_000, 'ms'),
    shown(`unclosed-${MANY_BRACKETS}-postgresql-memory`, many?.mebibytes ?? HEAP_MEBIBYTES_MAX, 'MiB'),
    {
      name: `unclosed-${FATAL_BRACKETS}-postgresql-processes-ended`,
      value: fatal === null ? 1 : 0,
      unit: 'processes',
      goal: '=1',
      ok: fatal === null,
    },
  ];
}

/** One text in a process of its own; null where it ran out of memory or time. */
async function parseApart(build: string, brackets: number, workspace: Workspace): Promise<Parse | null> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MEBIBYTES_MAX}`, PROCESS, build, String(brackets)],
    { stdio: ['ignore', 'pipe', 'ignore'], timeout: SECONDS_MAX * 1_000, killSignal: 'SIGKILL' },
  );
  workspace.defer(() => child.kill('SIGKILL'));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const said = await readText(child.stdout);
  if ((await exited) !== 0) return null;
  return JSON.parse(said) as Parse; // our own process
}

function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: '-', ok: true };
}
