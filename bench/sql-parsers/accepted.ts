import { isProblem, type SqlParser } from '../../sandbox/judge/parser.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { openEngineParser } from './engine-parser.ts';
import { type Example, type ExampleSet, exampleSets } from './example-sets.ts';
import { createFingerprint, type Fingerprint } from './meaning.ts';
import { DIALECTS, readWith } from './node-sql-parser.ts';

/** The outcome of one example in a parser. */
type Outcome = 'refused' | 'unprintable' | 'broken' | 'changed' | 'same';
/** The regenerated text of the example, null where there is none; undefined where the example is refused. */
type Regenerate = (example: Example) => Promise<string | null | undefined>;

interface Shares {
  /** Percent of the examples. */
  readonly accepted: number;
  readonly same: number;
  /** Examples that come back as another valid query. */
  readonly changed: number;
}

const ENOUGH_PERCENT = 98;

export async function measureAccepted({ workspace, say }: BenchContext): Promise<Figure[]> {
  const parser = await openEngineParser(workspace, 'accepted');
  const fingerprint = remembered(createFingerprint(parser));
  const figures: Figure[] = [];
  for (const set of exampleSets()) {
    figures.push(...(await measureSet(set, parser, fingerprint, say)));
  }
  return figures;
}

async function measureSet(
  set: ExampleSet,
  parser: SqlParser,
  fingerprint: Fingerprint,
  say: BenchContext['say'],
): Promise<Figure[]> {
  const measure = (regenerate: Regenerate) => sharesOf(set.examples, regenerate, fingerprint);
  const byDialect = [];
  for (const dialect of DIALECTS) {
    const shares = await measure(async ({ sql }) => readWith(dialect, sql)?.regenerated);
    byDialect.push({ dialect, shares });
    say(`${set.name}: ${dialect} ${words(shares)}`);
  }
  const best = byDialect.reduce((a, b) => (b.shares.accepted > a.shares.accepted ? b : a));
  const inTurn = await measure(async ({ sql }) => firstReading(sql));
  const engine = await measure(async ({ sql }) => {
    const parsed = await parser.parse(sql);
    return isProblem(parsed) ? undefined : parsed.canonical;
  });
  say(`${set.name}, ${set.examples.length} examples: best is ${best.dialect} ${words(best.shares)}`);
  say(`${set.name}: all ${DIALECTS.length} in turn ${words(inTurn)}; the engine itself ${words(engine)}`);
  return [
    ...figuresOf(`${set.name}-best-dialect`, best.shares),
    ...figuresOf(`${set.name}-all-in-turn`, inTurn, ...goalOf(set, inTurn)),
    ...figuresOf(`${set.name}-engine`, engine, '=100', engine.same === 100),
  ];
}

/** Sets without ClickHouse's own syntax do not distinguish parsers: they are only shown. */
function goalOf({ isOfClickHouse }: ExampleSet, { same }: Shares): [string, boolean] {
  return isOfClickHouse ? [`<${ENOUGH_PERCENT}`, same < ENOUGH_PERCENT] : ['-', true];
}

/** The first reading in the order of the dialects, because a gate could not know which one is right. */
function firstReading(sql: string): string | null | undefined {
  for (const dialect of DIALECTS) {
    const reading = readWith(dialect, sql);
    if (reading !== null) return reading.regenerated;
  }
  return undefined;
}

async function sharesOf(
  examples: readonly Example[],
  regenerate: Regenerate,
  fingerprint: Fingerprint,
): Promise<Shares> {
  const outcomes: Outcome[] = [];
  for (const example of examples) outcomes.push(await outcomeOf(example, regenerate, fingerprint));
  const share = (wanted: (outcome: Outcome) => boolean) =>
    (100 * outcomes.filter(wanted).length) / examples.length;
  return {
    accepted: share((outcome) => outcome !== 'refused'),
    same: share((outcome) => outcome === 'same'),
    changed: outcomes.filter((outcome) => outcome === 'changed').length,
  };
}

async function outcomeOf(
  example: Example,
  regenerate: Regenerate,
  fingerprint: Fingerprint,
): Promise<Outcome> {
  const regenerated = await regenerate(example);
  if (regenerated === undefined) return 'refused';
  if (regenerated === null) return 'unprintable';
  const meant = await fingerprint(example.sql, example.params);
  if (meant === null) throw new Error(`the engine does not read an example: ${example.sql}`);
  const means = await fingerprint(regenerated, example.params);
  if (means === null) return 'broken';
  return means === meant ? 'same' : 'changed';
}

/** Every dialect is compared with the same originals. */
function remembered(fingerprint: Fingerprint): Fingerprint {
  const known = new Map<string, ReturnType<Fingerprint>>();
  return (text, parameters) => {
    const before = known.get(text) ?? fingerprint(text, parameters);
    known.set(text, before);
    return before;
  };
}

function words({ accepted, same, changed }: Shares): string {
  return `accepts ${accepted.toFixed(0)} %, regenerates ${same.toFixed(0)} %, changes ${changed} silently`;
}

function figuresOf(name: string, { accepted, same, changed }: Shares, goal = '-', ok = true): Figure[] {
  return [
    { name: `${name}-accepted`, value: accepted, unit: '%', goal: '-', ok: true },
    { name: `${name}-same-meaning`, value: same, unit: '%', goal, ok },
    { name: `${name}-silently-changed`, value: changed, unit: 'queries', goal: '-', ok: true },
  ];
}
