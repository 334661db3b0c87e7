import type { AnyOperation } from '../operations/define.ts';

/** The figures that a model needs first, in a sentence: what came, how much of it, and what it cost. */

type Body = Readonly<Record<string, unknown>>;

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
};

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

function profileFigures({ wallet, coverage, aggregates, data_quality: quality }: Body): string {
  if (at(coverage, 'known') === false) return `${shown(wallet)} is not known.`;
  const of = (name: string): string => shown(at(aggregates, name));
  return `${shown(wallet)} was paid ${of('inbound_usd')} USD in ${of('inbound_count')} settlements and paid ${of('outbound_usd')} USD in ${of('outbound_count')}; ${of('proven_usd')} USD proven, ${of('distinct_counterparties')} counterparties; data quality: ${shown(at(quality, 'verdict'))}.`;
}

/** A field or an item of an answer; undefined where there is none. */
function at(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'unknown';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function plural(count: unknown, noun: string): string {
  return `${shown(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function sentences(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
