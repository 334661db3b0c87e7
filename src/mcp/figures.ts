import type { AnyOperation } from '../operations/define.ts';

/** The figures that a model needs first, in a sentence: what came, how much of it, and what it cost. */

export type Body = Readonly<Record<string, unknown>>;

export function figuresOf({ id }: Pick<AnyOperation, 'id'>, body: Body): string {
  const own = Object.hasOwn(OWN, id) ? OWN[id] : undefined;
  return own?.(body) ?? listFigures(body);
}

/** Of the operations whose answers are more than lists. */
const OWN: Readonly<Record<string, (body: Body) => string>> = {
  runSql: (body) => ('estimate' in body ? estimateFigures(body) : resultFigures(body)),
  getSqlSchema: schemaFigures,
  getAccount: (body) => sentences([shown(body['summary']), balanceFigures(body)]),
  getTelemetry: telemetryFigures,
  getMerchant: profileFigures,
  getAgent: profileFigures,
  getEntitySummary: summaryFigures,
  getPair: pairFigures,
  listMerchants: ({ merchants, meta }) => rankingFigures('merchants', merchants, meta),
  getLeaderboard: ({ leaderboard, meta }) => rankingFigures('rows', leaderboard, meta),
};

/** The first of a ranking is what most callers ask for. */
function rankingFigures(noun: string, rows: unknown, meta: unknown): string {
  if (!Array.isArray(rows)) return '';
  const first: unknown = rows[0];
  const by = at(meta, 'by');
  const order = typeof by === 'string' ? ` by ${by}, window ${shown(at(meta, 'window'))}` : '';
  const who = at(first, 'wallet') ?? at(first, 'agent_id') ?? at(first, 'id');
  if (who === undefined) return `${rows.length} ${noun}${order}.`;
  const name = at(first, 'name');
  const value = at(first, 'value');
  return `${rows.length} ${noun}${order}; the first is ${typeof name === 'string' ? `${name}, ` : ''}${shown(who)}${typeof value === 'number' ? `, with ${value}` : ''}.`;
}

/** `50 flows, from 2026-11-20T11:59:53Z to 2026-11-20T12:00:00Z.` for each list of the answer. */
function listFigures(body: Body): string {
  const counts = Object.entries(body)
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
    .map(([name, rows]) => {
      const total = body[`${name}_total`];
      return `${rows.length} ${name}${typeof total === 'number' ? ` of ${total}` : ''}${timesOf(rows)}.`;
    });
  return sentences(counts);
}

function timesOf(rows: readonly unknown[]): string {
  const times = [rows.at(-1), rows[0]].map((row) => at(row, 'block_time'));
  const [from, to] = times;
  return typeof from === 'string' && typeof to === 'string' ? `, from ${from} to ${to}` : '';
}

/** Names and values of a longer row are left to `structuredContent`. */
const ROW_MAX_CHARS = 300;

function resultFigures({ row_count: count, rows, columns, truncated, usage, ...body }: Body): string {
  const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const names = Array.isArray(columns) ? columns.map((column) => shown(at(column, 'name'))) : [];
  const values = names.map(
    (name, index) => `${name} = ${cellText(at(first, Array.isArray(first) ? index : name))}`,
  );
  const [head, row] = [names.join(', '), values.join(', ')];
  const left = at(usage, 'balance');
  return sentences([
    `${plural(count, 'row')}${truncated === true ? ', more were cut' : ''}, of ${head.length > ROW_MAX_CHARS ? plural(names.length, 'column') : head}.`,
    first === undefined || row.length > ROW_MAX_CHARS
      ? ''
      : `${count === 1 ? 'It is' : 'The first is'} ${row}.`,
    `${shown(at(usage, 'units_charged'))} QU charged${typeof left === 'number' ? `, ${left} left` : ''}; ${plural(at(body['statistics'], 'rows_read'), 'row')} read in ${shown(body['duration_ms'])} ms.`,
  ]);
}

function cellText(value: unknown): string {
  return value === null ? 'NULL' : shown(value);
}

function estimateFigures(body: Body): string {
  const { estimate, tier, advised_tier: advised } = body;
  const rows = at(estimate, 'rows_to_read');
  return `The query is valid and was not run. It would read ${typeof rows === 'number' ? `about ${plural(rows, 'row')}` : 'an unknown number of rows'} and cost ${shown(at(estimate, 'qu_min'))} to ${shown(at(estimate, 'qu_max'))} QU in tier ${shown(tier)}${advised === tier ? '' : `; advised tier: ${shown(advised)}`}.`;
}

function schemaFigures({ tables, functions, functions_total: total }: Body): string {
  const names = Array.isArray(tables) ? tables.map((table) => shown(at(table, 'name'))) : [];
  return sentences([
    names.length === 0 ? '' : `${names.length === 1 ? 'Table' : 'Tables'} ${names.join(', ')}.`,
    Array.isArray(functions) ? `${functions.length} of ${shown(total)} matching functions.` : '',
  ]);
}

function balanceFigures({ balance }: Body): string {
  const units = at(balance, 'available_qu');
  return typeof units === 'number' ? `${units} QU available.` : '';
}

function telemetryFigures({ status, chains }: Body): string {
  const lines = Array.isArray(chains)
    ? chains.map(
        (chain) =>
          `${shown(at(chain, 'chain'))} is ${shown(at(chain, 'state'))} at block ${shown(at(chain, 'indexed_block'))}, ${shown(at(chain, 'lag_seconds'))} s behind`,
      )
    : [];
  return sentences([`Status ${shown(status)}.`, lines.length === 0 ? '' : `${lines.join('; ')}.`]);
}

function profileFigures(body: Body): string {
  const { wallet, coverage, aggregates, data_quality: quality } = body;
  if (at(coverage, 'known') === false)
    return sentences([`${shown(wallet)} is not known.`, elsewhereFigures(body)]);
  const of = (name: string): string => shown(at(aggregates, name));
  return sentences([
    `${shown(wallet)} was paid ${of('inbound_usd')} USD in ${of('inbound_count')} settlements and paid ${of('outbound_usd')} USD in ${of('outbound_count')}; ${of('proven_usd')} USD proven, ${of('distinct_counterparties')} counterparties; data quality: ${shown(at(quality, 'verdict'))}.`,
    elsewhereFigures(body),
  ]);
}

/** What an answer about one chain left out. */
function elsewhereFigures({ elsewhere }: Body): string {
  if (!Array.isArray(elsewhere) || elsewhere.length === 0) return '';
  const others = elsewhere.map(
    (one) =>
      `${plural(at(one, 'settlement_count'), 'settlement')} of ${shown(at(one, 'usd'))} USD on ${shown(at(one, 'chain'))}`,
  );
  return `Not in these figures: ${others.join(', ')}.`;
}

function summaryFigures({ wallet, verdict, received, compare, ...body }: Body): string {
  const reasons = (field: unknown): string =>
    Array.isArray(field) && field.length > 0 ? field.map(shown).join(', ') : 'nothing';
  const median = at(compare, 'median_usd');
  return sentences([
    `${shown(wallet)}: ${shown(verdict)}. For: ${reasons(body['reasons_for'])}. Against: ${reasons(body['reasons_against'])}.`,
    `It was paid ${shown(at(received, 'usd'))} USD in ${plural(at(received, 'settlement_count'), 'settlement')}, ${shown(at(received, 'proven_usd'))} USD of it proven.`,
    typeof median === 'number' ? `Usually ${median} USD at a time.` : '',
    elsewhereFigures(body),
  ]);
}

function pairFigures(body: Body): string {
  const { payer, payee, paid, paid_back: back } = body;
  const of = (name: string): string => shown(at(paid, name));
  return sentences([
    `${shown(payer)} paid ${shown(payee)} ${of('settled_usd')} USD in ${plural(at(paid, 'settlement_count'), 'settlement')} on ${plural(at(paid, 'days_active'), 'day')}, ${of('proven_usd')} USD proven, and was paid back ${shown(at(back, 'settled_usd'))} USD.`,
    elsewhereFigures(body),
  ]);
}

/** A field or an item of an answer; undefined where there is none. */
export function at(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'unknown';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function plural(count: unknown, noun: string): string {
  return `${shown(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function sentences(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
