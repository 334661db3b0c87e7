import {
  engineMegabytes,
  guestMemoryBytes,
  MEMORY_SHARES,
  queriesAtOnce,
} from '../../clickhouse/guest/memory.ts';
import { usdNumber } from '../../core/domain/amount.ts';
import { DEFAULT_PLANS, PLAN_IDS, SQL_SECONDS_PER_QU, type SqlTierId } from '../../core/domain/plan.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTable } from '../../core/domain/public-tables.ts';
import { REFUSED_FUNCTIONS, type RefusedFunctions } from '../../sandbox/policy/function-policy.ts';
import { createSpareMemory } from '../../sandbox/run/memory.ts';
import { QUERY_FAILURES } from '../../sandbox/sandbox.ts';
import {
  SQL_QU_USD_MICROS,
  SQL_TIER_SOLD,
  SQL_TIERS,
  sqlBudget,
  sqlPrice,
} from '../../src/operations/prices.ts';
import { SQL_FACT_HEADERS } from '../../src/operations/sql/answer.ts';
import { SQL_FORMATS, SQL_MEDIA } from '../../src/operations/sql/params.ts';
import { SQL_WARNINGS } from '../../src/operations/sql/shapes.ts';
import { capitalized, code, generatedHead, table } from './markdown.ts';

/** What docs/sql.md and its reference pages take from the declarations. */

const TABLES_INTRO = `The tables that \`POST /v0/sql\` can read; [how to query](../sql.md). *Cheap by* names the columns by which a constant in \`WHERE\` reads little, the
most helpful first. Types are the engine's own. Served as JSON by \`GET /v0/sql/schema?table=*\`.

`;

export function sqlTablesPage(): string {
  const sections = PUBLIC_TABLE_NAMES.map((name) => {
    const { meaning, cheapBy, columns }: PublicTable = PUBLIC_TABLES[name];
    const rows = columns.map((column) => [code(column.name), code(column.type), column.meaning]);
    return `## ${name}\n\n${meaning} Cheap by ${cheapBy.map(code).join(', ')}.\n\n${table(['column', 'type', 'meaning'], rows)}`;
  });
  return `${generatedHead('SQL tables', 'core/domain/public-tables.ts')}${TABLES_INTRO}${sections.join('\n')}`;
}

/** The tables in one look. */
export function sqlTablesBlock(): string {
  const rows = PUBLIC_TABLE_NAMES.map((name) => {
    const { meaning, cheapBy, columns }: PublicTable = PUBLIC_TABLES[name];
    return [
      `[${code(name)}](reference/sql-tables.md#${name})`,
      meaning,
      String(columns.length),
      cheapBy.map(code).join(', '),
    ];
  });
  return table(['table', 'holds', 'columns', 'cheap by'], rows);
}

const FUNCTIONS_INTRO = `A query may not call the functions on this page. Every other function of the engine is available, with every combinator (\`sumIf\`,
\`uniqMerge\`, \`maxOrNull\`, …), as of the engine that this release pins; functions that a newer engine adds are refused until they have been
reviewed. Headings say what the refused functions do. A star stands for every name that begins so. Case does not matter.

`;
const UNSTOPPABLE = 'cannot be stopped once it ';
const UNSTOPPABLE_INTRO =
  'The engine looks at the time limit of a query between blocks of rows. A single call of these can take minutes, and nothing ends it.\n';

export function sqlFunctionsPage(): string {
  const isUnstoppable = ({ why }: RefusedFunctions): boolean => why.startsWith(UNSTOPPABLE);
  const others = REFUSED_FUNCTIONS.filter((group) => !isUnstoppable(group));
  const sections = [...new Set(others.map(({ why }) => why))].map((why) => {
    const parts = others.filter((group) => group.why === why).map(refusedPart);
    return `## ${capitalized(why)}\n\n${parts.join('\n')}`;
  });
  const rows = REFUSED_FUNCTIONS.filter(isUnstoppable).map((group) => [
    group.why.slice(UNSTOPPABLE.length),
    group.hint,
    refusedNames(group),
  ]);
  const unstoppable = `## Cannot be stopped\n\n${UNSTOPPABLE_INTRO}\n${table(['what it does', 'instead', 'functions'], rows)}`;
  return `${generatedHead('Refused SQL functions', 'sandbox/policy/function-policy.ts')}${FUNCTIONS_INTRO}${[...sections, unstoppable].join('\n')}`;
}

function refusedPart(group: RefusedFunctions): string {
  return `${refusedNames(group)}\n\n${group.hint}\n`;
}

function refusedNames({ names, prefixes = [] }: RefusedFunctions): string {
  return [...new Set(names), ...prefixes.map((prefix) => `${prefix}*`)].map(code).join(', ');
}

export function sqlTiersBlock(): string {
  const rows = SQL_TIERS.map((tier) => {
    const { x402UsdMicros } = sqlPrice(tier, sqlBudget(tier));
    return [
      code(tier.tier),
      `${tier.timeoutSeconds} s`,
      `${tier.maxQu} QU`,
      String(tier.requestsPerMinute),
      `${tier.diskBytes / 1024 ** 3} GiB`,
      plansOf(tier.tier),
      tier === SQL_TIER_SOLD ? `${usdNumber(x402UsdMicros)} USD` : 'not sold',
    ];
  });
  const head = [
    'tier',
    'runs at most',
    'costs at most',
    'requests a minute',
    'disk of a query',
    'plans',
    'over x402',
  ];
  return `${table(head, rows)}
One Query Unit (QU) for every started ${SQL_SECONDS_PER_QU} seconds in which the engine works on the query, at least one: the time of the run, less the time in which its
threads waited for cores that others used or for the disk. Waiting for a turn is not counted, and a query that fails for memory costs one unit at
most. \`max_qu\` is the most that the query may cost: these units are held before the run, the run ends after ${SQL_SECONDS_PER_QU} seconds a unit, and afterwards
the used units are charged and the rest is given back. Over x402 one unit is ${usdNumber(SQL_QU_USD_MICROS)} USD: the scheme \`exact\` pays for all of \`max_qu\`, \`upto\` signs that as its
ceiling and pays for the use. Without \`max_qu\` the maximum of the tier is bought, on every lane. \`explain_only\`, an invalid
query and a failure of ours cost nothing. Which plan may buy which tier is a matter of configuration; \`GET /v0/account\` says what holds for you.
`;
}

/** Machines of the table: memory in GiB and cores. */
const MACHINES = [
  { gibibytes: 8, cores: 2 },
  { gibibytes: 24, cores: 4 },
  { gibibytes: 64, cores: 8 },
] as const;

export function queryMemoryBlock(): string {
  const rows = MACHINES.map(({ gibibytes, cores }) => {
    const megabytes = engineMegabytes(null, gibibytes * 1024 ** 3);
    const share = guestMemoryBytes(megabytes * 1024 ** 2, cores);
    const alone = createSpareMemory(queriesAtOnce(cores));
    const ofTier = SQL_TIERS.map(({ tier }) => {
      const { shares, giveBack } = alone.take(MEMORY_SHARES[tier]);
      giveBack();
      return `${Math.round((shares * share) / 1e6).toLocaleString('en-US')} MB`;
    });
    return [
      `${gibibytes} GiB, ${cores} cores`,
      `${megabytes.toLocaleString('en-US')} MiB`,
      String(queriesAtOnce(cores)),
      ...ofTier,
    ];
  });
  const disks = SQL_TIERS.map(({ diskBytes }) => `${diskBytes / 1024 ** 3} GiB`);
  const head = [
    'machine',
    'engine',
    'queries at once',
    ...SQL_TIERS.map(({ tier }) => `a query of \`${tier}\``),
  ];
  return table(head, [...rows, ['disk, on every machine', '', '', ...disks]]);
}

function plansOf(tier: SqlTierId): string {
  return PLAN_IDS.filter((plan) => DEFAULT_PLANS[plan].sqlTiers.includes(tier)).join(', ');
}

export function sqlFormatsBlock(): string {
  const rows = SQL_FORMATS.map((format) => {
    const { mediaType, holds, rowsMax } = SQL_MEDIA[format];
    return [code(format), code(mediaType.replace(/;.*/, '')), holds, rowsMax.toLocaleString('en-US')];
  });
  return table(['format', 'media type', 'holds', 'rows at most'], rows);
}

const ANSWERS_INTRO = `What an answer of \`POST /v0/sql\` may say besides its rows; [how to query](../sql.md).

`;

/** Headers, warnings and reasons of failures: looked up, not read. */
export function sqlAnswersPage(): string {
  // Without the warnings that only graphs and rankings give.
  const warnings = Object.entries(SQL_WARNINGS).filter(
    ([name]) => !/^(graph|rankings|other_chains)_/.test(name),
  );
  return `${generatedHead('SQL answers', 'src/operations/sql')}${ANSWERS_INTRO}## Headers

A JSON answer has these facts in its body; every other format has them in headers, before the first row.

${namesAndMeanings('header', SQL_FACT_HEADERS)}
## Warnings

A query with warnings runs. Each has a \`code\` and a \`message\`, and where the service can tell, \`near\`, \`position\` and \`replacement\`.

${namesAndMeanings('warning', Object.fromEntries(warnings))}
## Failure reasons

The \`reason\` of \`query_failed\`, and of \`invalid_query\` where planning found the mistake. [What a failure costs](../sql.md#errors).

${namesAndMeanings('reason', QUERY_FAILURES)}`;
}

function namesAndMeanings(head: string, meanings: Readonly<Record<string, string>>): string {
  return table(
    [head, 'meaning'],
    Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]),
  );
}
