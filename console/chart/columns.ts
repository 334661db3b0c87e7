import { type ChartData, USD_TYPE } from './spec.ts';

/** What the name and the type of a column say about its values. Pure. */

type ChartColumn = ChartData['columns'][number];

/** Dollars are of this type in the tables, and keep `usd` in their names in sums and means of them. */
export function isMoney({ name, type }: ChartColumn): boolean {
  return type === USD_TYPE || type === `Nullable(${USD_TYPE})` || /(^|_|\()usd($|_|\))/i.test(name);
}

const NOT_SUMMED =
  /^(avg|average|mean|median|quantile|min|max|uniq|distinct)|(^|_)(share|rate|ratio|percent|pct|price|unique|p\d\d)($|_)|%/i;

/** Whether the sum of several of its values means something: not of means, shares and distinct counts. */
export function isSummable({ name }: Pick<ChartColumn, 'name'>): boolean {
  return !NOT_SUMMED.test(name);
}

const BEFORE = /(^|_)(before|previous|prev|prior|earlier)(_|$)/i;

/** The name of the column whose value of the period before this column has: `usd` of `usd_before`. Null for other columns. */
export function beforeOf(name: string): string | null {
  return BEFORE.test(name)
    ? name.replace(BEFORE, (_all, left: string, _word, right: string) => (left && right ? '_' : ''))
    : null;
}

/** Names that people read as something else. */
const WORDS: Readonly<Record<string, string>> = {
  usd: 'volume',
  'count()': 'count',
  avg: 'average',
  tx: 'transaction',
  txs: 'transactions',
  ts: 'time',
  block_time: 'time',
  chain_id: 'chain',
};
/** Next to these, `usd` is the unit; next to other words it is the volume. */
const AMOUNTS = /(volume|revenue|price|amount|spent|spend|paid|fee|fees|cost|balance|earned|income|total)/i;
const MEANS = /^(avg|average|mean|median|min|max|p\d\d)$/i;

/** A column in words: `organic_usd` is `organic volume`, `payments` is itself. */
export function columnWords(name: string): string {
  const known = WORDS[name.toLowerCase()];
  if (known !== undefined) return known;
  if (!/^\w+$/.test(name)) return name;
  const words = name.split('_').filter((word) => word !== '');
  const others = words.filter((word) => word.toLowerCase() !== 'usd');
  const text = others.map((word) => WORDS[word.toLowerCase()] ?? word).join(' ');
  if (others.length === words.length || AMOUNTS.test(text)) return text;
  return `${text} ${others.every((word) => MEANS.test(word)) ? 'payment' : 'volume'}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
