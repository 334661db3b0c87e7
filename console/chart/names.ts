import { FACILITATOR_NAMES } from '../../core/domain/facilitator-names.ts';
import { isAddressText, keptCase } from '../account-texts.ts';
import { rawText } from '../cells.ts';
import { CHAIN_NAMES } from '../chain-names.ts';
import { shortAddress } from '../format.ts';
import { TOKEN_SYMBOLS } from '../token-symbols.ts';
import { clockText, clockUnitOf, dateText } from './dates.ts';
import type { AxisKind, ChartData } from './spec.ts';

/** Names in place of ids: from the tables of the console, and from a column of names in the same result. Pure. */

type Row = readonly unknown[];

/** The names of the values of a column; values without one name themselves. Two values never have the same name. */
export function namerOf(data: ChartData, at: number, kind: AxisKind): (id: string) => string {
  const column = data.columns[at]?.name ?? '';
  const beside = namesBeside(data, at);
  const unit = kind === 'time' ? null : clockUnitOf(column);
  const given = new Map<string, string>();
  const owners = new Map<string, string>();
  return (id) => {
    const known = given.get(id);
    if (known !== undefined) return known;
    const wanted =
      beside.get(id) ?? (unit === null ? knownName(column, id, kind) : clockText(unit, id) || id);
    const owner = owners.get(wanted);
    const name = owner === undefined ? wanted : `${wanted} ${shortAddress(id)}`;
    owners.set(name, id);
    given.set(id, name);
    return name;
  };
}

function knownName(column: string, id: string, kind: AxisKind): string {
  if (kind === 'time') return dateText(id);
  if (/facilitator/i.test(column)) return FACILITATOR_NAMES[id] ?? id;
  if (/chain|network/i.test(column)) return CHAIN_NAMES[id] ?? CHAIN_NAMES[`eip155:${id}`] ?? id;
  return /asset|token/i.test(column) ? (TOKEN_SYMBOLS[keptCase(id)] ?? id) : id;
}

const NAMES = /(^|_)(name|title|label|symbol)$/i;

/** From a column of names: one that gives each address of this column a single name, or none. */
function namesBeside({ columns, rows }: ChartData, at: number): ReadonlyMap<string, string> {
  if (!rows.some((row) => isAddressText(keptCase(rawText(row[at]))))) return new Map();
  const own = columns[at]?.name ?? '';
  const candidates = columns.flatMap(({ name }, other) => (other !== at && NAMES.test(name) ? [other] : []));
  // `payee_name` before `name`.
  candidates.sort(
    (a, b) => Number(columns[b]?.name.startsWith(own)) - Number(columns[a]?.name.startsWith(own)),
  );
  for (const other of candidates) {
    const names = singleNames(rows, at, other);
    if (names !== null && names.size > 0) return names;
  }
  return new Map();
}

function singleNames(rows: readonly Row[], at: number, other: number): ReadonlyMap<string, string> | null {
  const names = new Map<string, string>();
  for (const row of rows) {
    const [id, name] = [rawText(row[at]), rawText(row[other])];
    if (name === '') continue;
    const before = names.get(id);
    if (before !== undefined && before !== name) return null;
    names.set(id, name);
  }
  return names;
}

/** Whether a column only names the addresses of another one. */
export function isNameColumn(data: ChartData, at: number): boolean {
  if (!NAMES.test(data.columns[at]?.name ?? '')) return false;
  return data.columns.some(
    (_column, other) =>
      other !== at &&
      data.rows.some((row) => isAddressText(keptCase(rawText(row[other])))) &&
      singleNames(data.rows, other, at) !== null,
  );
}
