import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import {
  createEngineParser,
  isProblem,
  type QueryParameters,
  type SqlParser,
} from '../../sandbox/judge/parser.ts';
import { loadFunctionCatalogue } from '../../sandbox/policy/policy.ts';
import { docsQuestions } from '../../test/kit/docs-questions.ts';
import { startBenchEngine } from '../lab/engine.ts';
import { askEach, type Figure, judged, shown } from '../lab/measure.ts';
import { type BenchContext, runBench, type Workspace } from '../lab/run.ts';

/** A parser as a gate would use it: the text that it would run; null where its tree cannot be printed, undefined where it refuses. */
type Reprint = (text: string) => Promise<string | null | undefined>;

const DIALECTS = [
  ...['Athena', 'BigQuery', 'DB2', 'FlinkSQL', 'Hive', 'MariaDB', 'MySQL', 'Noql', 'PostgresQL', 'Redshift'],
  ...['Snowflake', 'Sqlite', 'TransactSQL', 'Trino'],
] as const;

/** Of scripts/tools, which `npm ci --prefix scripts/tools` installs: the part of its interface that is called here. */
interface ThirdParty {
  readonly Parser: new () => {
    parse(text: string, options: object): { readonly ast: ThirdPartyTree | readonly ThirdPartyTree[] };
    sqlify(ast: unknown, options: object): string;
  };
}
type ThirdPartyTree = { readonly type?: string };

const require = createRequire(new URL('../../scripts/tools/package.json', import.meta.url));
const parser = new (require('node-sql-parser') as ThirdParty).Parser();

/** node-sql-parser, one for each dialect. It refuses all but exactly one SELECT. */
const dialects: readonly { readonly name: string; readonly reprint: Reprint }[] = DIALECTS.map(
  (database) => ({
    name: database,
    async reprint(text) {
      const ast = orUndefined(() => parser.parse(text, { database }).ast);
      const statements = Array.isArray(ast) ? ast : [ast];
      if (ast === undefined || statements.length !== 1 || statements[0]?.type !== 'select') return undefined;
      return orUndefined(() => parser.sqlify(ast, { database })) ?? null;
    },
  }),
);

/** It throws a syntax error for a text that it cannot read, and sometimes a TypeError. */
function orUndefined<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** As a gate would that asks one dialect after the other: it cannot know which reading is right, so the first one counts. */
const allInTurn: Reprint = async (text) => {
  for (const { reprint } of dialects) {
    const printed = await reprint(text);
    if (printed !== undefined) return printed;
  }
  return undefined;
};

/** The product's own parser: the engine, asked as the guest. The workspace ends it. */
async function openEngineParser(workspace: Workspace) {
  const engine = await startBenchEngine(workspace, 'parser');
  const guest = createGuest(engine.access);
  workspace.defer(() => guest.close());
  const engineParser = createEngineParser(guest);
  return {
    fingerprint: createFingerprint(engineParser),
    async reprint(text: string) {
      const parsed = await engineParser.parse(text);
      return isProblem(parsed) ? undefined : parsed.canonical;
    },
  };
}

/**
 * Whether two texts mean the same, decided by the engine: their unresolved query trees are equal. The tree shows tables, join
 * kinds, functions, constants, aliases, CTEs, windows and their frames; it shows neither FORMAT nor comments nor brackets, which
 * change nothing. Two spellings that only look different are taken as one: functions whose names the engine takes in any case,
 * and `count(*)` for `count()`. Null where the engine does not read the text.
 */
type Fingerprint = (text: string, parameters: QueryParameters) => Promise<string | null>;

/** `count(DISTINCT x)` is shown as the name as it was written with a combinator behind it. */
const FUNCTION_NAME = /(function_name: )(\w+?)(Distinct)?(?=,)/;
const COUNT_ROWS = /\bcount\(\*\)/gi;

function createFingerprint(engineParser: SqlParser): Fingerprint {
  const functions = loadFunctionCatalogue();
  const isAnyCase = (name: string): boolean =>
    [name, name.toLowerCase(), name.toUpperCase()].every((spelling) => functions.allows(spelling));
  const inOneCase = (_all: string, label: string, name: string, distinct = ''): string =>
    label + (isAnyCase(name) ? name.toLowerCase() : name) + distinct;
  return async (text, parameters) => {
    const lines = await engineParser.tree(text.replace(COUNT_ROWS, 'count()'), parameters);
    return isProblem(lines) ? null : lines.map((line) => line.replace(FUNCTION_NAME, inOneCase)).join('\n');
  };
}

/** A question that must be answered. */
interface Example {
  readonly sql: string;
  readonly params: QueryParameters;
}

const ENOUGH_PERCENT = 98;

/** FORMAT and the escapes of values belong to the request; the tree of a text shows neither. */
const isAboutTheText = ({ sql, params }: Example): boolean =>
  !/\bFORMAT \w+$/.test(sql) && !Object.values(params).some((value) => value.includes('\\'));

const fixture = (name: string): Example[] =>
  readFileSync(new URL(`../../test/fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly sql: string; readonly params?: QueryParameters }) // our own
    .map(({ sql, params = {} }) => ({ sql, params }))
    .filter(isAboutTheText);

/** Shapes that are the same in every dialect do not distinguish parsers: ClickBench's are only shown. */
const SETS: readonly { name: string; isJudged: boolean; examples: readonly Example[] }[] = [
  { name: 'legit', isJudged: true, examples: ['sql-legit-examples', 'legit-more'].flatMap(fixture) },
  { name: 'questions', isJudged: true, examples: docsQuestions() },
  { name: 'clickbench', isJudged: false, examples: fixture('clickbench-shaped') },
];

async function measureAccepted({ workspace, say }: BenchContext): Promise<Figure[]> {
  const engine = await openEngineParser(workspace);
  const fingerprint = remembered(engine.fingerprint);
  return askEach(SETS, say, async ({ name, isJudged, examples }) => {
    const measure = async (who: string, reprint: Reprint) => {
      const shares = await sharesOf(examples, reprint, fingerprint);
      const { accepted, same, changed } = shares;
      say(
        `${name}, ${examples.length} examples: ${who} accepts ${accepted.toFixed(0)} %, regenerates ${same.toFixed(0)} %, changes ${changed} silently`,
      );
      return shares;
    };
    const each = [];
    for (const dialect of dialects) each.push(await measure(dialect.name, dialect.reprint));
    const best = each.reduce((a, b) => (b.accepted > a.accepted ? b : a));
    const enough = isJudged ? ENOUGH_PERCENT : undefined;
    return [
      ...figuresOf(`${name}-best-dialect`, best, '<'),
      ...figuresOf(`${name}-all-in-turn`, await measure('all in turn', allInTurn), '<', enough),
      ...figuresOf(`${name}-engine`, await measure('the engine itself', engine.reprint), '=', 100),
    ];
  });
}

async function sharesOf(examples: readonly Example[], reprint: Reprint, fingerprint: Fingerprint) {
  const counts = { accepted: 0, same: 0, changed: 0 };
  for (const { sql, params } of examples) {
    const printed = await reprint(sql);
    if (printed === undefined) continue;
    counts.accepted += 1;
    const meant = await fingerprint(sql, params);
    if (meant === null) throw new Error(`the engine does not read an example: ${sql}`);
    const means = printed === null ? null : await fingerprint(printed, params);
    if (means === meant) counts.same += 1;
    else if (means !== null) counts.changed += 1;
  }
  // Percent of the examples; and those that come back as another valid query.
  const percent = (count: number): number => (100 * count) / examples.length;
  return { accepted: percent(counts.accepted), same: percent(counts.same), changed: counts.changed };
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

type Shares = Awaited<ReturnType<typeof sharesOf>>;

function figuresOf(name: string, { accepted, same, changed }: Shares, is: '<' | '=', limit?: number) {
  return [
    shown(`${name}-accepted`, accepted, '%'),
    judged(`${name}-same-meaning`, same, '%', is, limit),
    shown(`${name}-silently-changed`, changed, 'queries'),
  ];
}

await runBench({
  name: 'sql-parsers',
  description: 'node-sql-parser against the engine’s own parser on questions that must be answered.',
  parts: [{ name: 'accepted', summary: 'what comes back with the same meaning', run: measureAccepted }],
});
