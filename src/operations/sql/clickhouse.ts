import { Type } from '@sinclair/typebox';
import type { WrittenAs } from '../../../clickhouse/engine/engine.ts';
import { ENGINE_OUTPUT } from '../../../clickhouse/engine/output.ts';
import { SQL_SECONDS_PER_QU, type SqlTierId } from '../../../core/domain/plan.ts';
import { fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { valuesAsRead } from '../../../sandbox/judge/literals/parameters.ts';
import type { QueryParameters } from '../../../sandbox/judge/parser.ts';
import { clickhouseFormat } from '../../../sandbox/policy/formats.ts';
import {
  askedLimits,
  formSettings,
  meaningSettings,
  type SqlSetting,
  timeZoneOf,
} from '../../../sandbox/policy/settings.ts';
import type { SandboxResult } from '../../../sandbox/sandbox.ts';
import type { Charge, Outcome } from '../answer.ts';
import { defineOperation } from '../define.ts';
import { type TableDeps, tablesOf } from '../own-tables.ts';
import { invalid, type Param } from '../params.ts';
import { SQL_PRICE, SQL_TIERS, type SqlBudget, sqlBudget, sqlPrice, sqlTierOf } from '../prices.ts';
import { register } from '../register.ts';
import { warningsHeader } from './answer.ts';
import { bounded } from './bounded-body.ts';
import { boundsOf, unitsFor } from './bounds.ts';
import { asFailureOf, asNotJudged, invalidQuery } from './failures.ts';
import { STREAMED_BYTES_MAX, STREAMED_ROWS_MAX } from './params.ts';
import { textWarnings } from './shapes.ts';

/**
 * A query of the ClickHouse interface: judged, metered and run like one of `POST /v0/sql`, and answered in a format that the engine
 * writes. No route, tool or page is made from it.
 */

/** One query as the interface read it. A class, so that no other value passes for one. */
export class ClickhouseQuery {
  readonly text: string;
  /** As the client wrote them (`valuesAsRead`). */
  readonly parameters: Readonly<Record<string, string>>;
  /** Settings of the request; the settings in the text take precedence. */
  readonly settings: readonly SqlSetting[];
  /** Where the text names none. */
  readonly format: string;
  readonly compression: WrittenAs['compression'];
  readonly tier: SqlTierId;

  constructor(facts: {
    readonly text: string;
    readonly parameters: Readonly<Record<string, string>>;
    readonly settings: readonly SqlSetting[];
    readonly format: string;
    readonly compression: WrittenAs['compression'];
    readonly tier: SqlTierId;
  }) {
    this.text = facts.text;
    this.parameters = facts.parameters;
    this.settings = facts.settings;
    this.format = facts.format;
    this.compression = facts.compression;
    this.tier = facts.tier;
  }

  /** So many units are held, and so long it may run. */
  budget(): SqlBudget {
    const tier = sqlTierOf(this.tier);
    const { seconds } = askedLimits(this.settings);
    if (seconds === undefined) return sqlBudget(tier);
    const budget = sqlBudget(tier, Math.min(tier.maxQu, Math.ceil(seconds / SQL_SECONDS_PER_QU)));
    return { ...budget, seconds: Math.min(budget.seconds, seconds) };
  }
}

/** The smallest tier that has the time that `max_execution_time` asks for, or the largest; and the smaller ones, for plans without it. */
export function tiersFor(settings: readonly SqlSetting[]): readonly SqlTierId[] {
  const { seconds } = askedLimits(settings);
  if (seconds === undefined) return [SQL_TIERS[0].tier];
  const enough = SQL_TIERS.findIndex(({ timeoutSeconds }) => timeoutSeconds >= seconds);
  const upTo = enough === -1 ? SQL_TIERS.length : enough + 1;
  return SQL_TIERS.slice(0, upTo)
    .map(({ tier }) => tier)
    .reverse();
}

/** Rows of one answer. Above it a result is an error, unless the client asked for it to be cut: it would not notice. */
const CLICKHOUSE_ROWS_MAX = STREAMED_ROWS_MAX;

const queryParam: Param<ClickhouseQuery> = {
  in: 'body',
  description: 'The query as the interface read it.',
  required: true,
  schema: Type.Any(),
  read: (raw, name) => {
    if (raw instanceof ClickhouseQuery) return raw;
    throw invalid(name, 'This operation is called by the ClickHouse interface only.');
  },
};

interface ReviewedQuery {
  readonly query: ClickhouseQuery;
  readonly accepted: Accepted;
  /** The values themselves. */
  readonly parameters: QueryParameters;
  readonly format: string;
}

const operation = defineOperation({
  id: 'runClickhouse',
  wire: {
    method: 'POST',
    path: '/clickhouse',
    params: { query: queryParam },
    output: Type.Object({}),
    fails: ['invalid_query', 'query_failed', 'upgrade_required'],
  },
  words: {
    summary: 'Run a query of a ClickHouse client',
    description: 'The ClickHouse HTTP interface.',
    example: {},
  },
  money: { price: SQL_PRICE, load: 'query' },
  access: { allowedAs: 'runSql' },
  find: async ({ query }, deps: TableDeps, caller) => ({ query, ownTables: tablesOf(caller, deps) }),
  terms: ({ query }) => ({
    price: sqlPrice(sqlTierOf(query.tier), query.budget()),
    byUse: true,
    tier: query.tier,
  }),
  asked: ({ query }) => ({ text: query.text, tier: query.tier, budgetQu: query.budget().maxQu }),
  review: async ({ query, ownTables }, { sql }, callerName): Promise<ReviewedQuery> => {
    const { text, parameters } = query;
    const settings = meaningSettings(query.settings);
    const asked = {
      ...{ text, parameters, caller: callerName, readsLikeServer: true, settings },
      ...(ownTables === undefined ? {} : { ownTables }),
    };
    const verdict = await sql.inspect(asked).catch(asNotJudged);
    if ('refused' in verdict) throw invalidQuery(verdict.refused);
    const { accepted } = verdict;
    return {
      query,
      accepted,
      parameters: valuesAsRead(accepted.parameters, parameters),
      format: knownFormat(accepted.format ?? query.format),
    };
  },
  run: async (reviewed, deps, { caller, callerName }): Promise<Outcome> => {
    const { sql } = deps;
    const { query, accepted, parameters, format } = reviewed;
    const warnings = await textWarnings(accepted, deps);
    const settings = [...query.settings, ...(accepted.settings ?? [])];
    const budget = query.budget();
    const { maxRows, mustBeWhole, seconds } = boundsOf(settings, {
      budget,
      maxRows: undefined,
      rowsMax: CLICKHOUSE_ROWS_MAX,
    });
    const result = await sql
      .run({
        accepted,
        parameters,
        tier: query.tier,
        maxSeconds: seconds,
        format: {
          name: format,
          settings: { ...ENGINE_OUTPUT, ...formSettings(settings) },
          compression: query.compression,
        },
        maxRows: mustBeWhole ? maxRows + 1 : maxRows,
        mustBeWhole,
        caller: callerName,
      })
      .catch((error: unknown) =>
        asFailureOf(error, {
          budget,
          hasKey: caller.standing !== 'anonymous',
          text: query.text,
          parameters,
        }),
      );
    const usedQu = unitsFor(result, budget);
    return {
      usedQu,
      answer: (charge) => ({
        stream: {
          mediaType: result.mediaType ?? 'application/octet-stream',
          headers: {
            ...headersOf(result, { format, charge, zone: timeZoneOf(settings) }),
            ...warningsHeader(warnings),
          },
          body: bounded(result.body, STREAMED_BYTES_MAX),
        },
      }),
      discard: () => void result.body.destroy(),
    };
  },
});

export const runClickhouse = register(operation);

/** Throws `Failure` (`invalid_query`, of the rule `forbidden_clause`). */
function knownFormat(name: string): string {
  const known = clickhouseFormat(name);
  if (known !== undefined) return known;
  throw fail('invalid_query', {
    detail: `Unknown format ${name.slice(0, 100)}.`,
    query: { reason: UNKNOWN_FORMAT, near: name.slice(0, 100) },
  });
}

/** `reason` of a format that is not available. */
export const UNKNOWN_FORMAT = 'unknown_format';

/** Headers of an answer that clients of ClickHouse read, and the units charged. */
export const CLICKHOUSE_HEADERS = [
  'X-ClickHouse-Summary',
  'X-ClickHouse-Progress',
  'X-ClickHouse-Query-Id',
  'X-ClickHouse-Format',
  'X-ClickHouse-Timezone',
  'X-ClickHouse-Server-Display-Name',
  'X-ClickHouse-Exception-Code',
  'X-Warnings',
  'X-Units-Held',
  'X-Units-Charged',
  'X-Units-Balance',
] as const;

function headersOf(
  result: SandboxResult,
  {
    format,
    charge,
    zone,
  }: { readonly format: string; readonly charge: Charge; readonly zone: string | null },
): Record<string, string> {
  const { contentCoding } = result;
  return {
    'x-clickhouse-summary': summaryOf(result),
    'x-clickhouse-format': format,
    ...(zone === null ? {} : { 'x-clickhouse-timezone': zone }),
    ...chargeHeaders(charge),
    ...(contentCoding === undefined ? {} : { 'content-encoding': contentCoding }),
  };
}

export function chargeHeaders({ heldQu, chargedQu, balance }: Charge): Record<string, string> {
  return {
    'x-units-held': String(heldQu),
    'x-units-charged': String(chargedQu),
    ...(balance === null ? {} : { 'x-units-balance': String(balance) }),
  };
}

const NS_PER_MS = 1_000_000;

/** Numbers as texts, as the engine writes them. */
function summaryOf(result: SandboxResult): string {
  return JSON.stringify({
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    written_rows: '0',
    written_bytes: '0',
    total_rows_to_read: String(result.rowsRead),
    result_rows: String(result.resultRows),
    result_bytes: String(result.resultBytes ?? 0),
    elapsed_ns: String(Math.round(result.engineMs * NS_PER_MS)),
    memory_usage: String(result.memoryBytes),
  });
}
