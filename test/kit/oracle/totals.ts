import { accountText } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { SimulatedCatalogue, SimulatedChain } from '../simulator/world.ts';
import { type ExpectedRow, readRangeNaively } from './naive-reader.ts';

/**
 * The totals that every read path must give, added up one row at a time, without any SQL of the program. The rows come from
 * receipts, or from the table `settlements` itself. Figures are one line of text per key, so that two sides are compared as a
 * whole and a difference prints itself.
 */
export type Lines = ReadonlyMap<string, string>;

export interface Recount extends Totals {
  /** `chain|block|time|log index` to everything that is stored of a settlement. */
  readonly settlements: Lines;
  /** `wallet|role|chain|block|time|log index` to the same as its party sees it. */
  readonly walletLog: Lines;
}

export interface Totals {
  readonly payees: Lines;
  readonly payers: Lines;
  readonly relayers: Lines;
  readonly chainHours: Lines;
  /** By payer, payee and chain: from the table sorted by day, and from the one sorted by payee. */
  readonly pairs: Lines;
  readonly pairsByPayee: Lines;
}

/** A settlement as far as the totals are concerned. */
interface CountedRow
  extends Pick<ExpectedRow, 'payer' | 'payee' | 'relayer' | 'facilitator' | 'method' | 'kind'> {
  readonly chain: string;
  /** Unix seconds. */
  readonly time: number;
  readonly usdMicros: bigint;
}

interface ReadRow extends ExpectedRow, CountedRow {}

/** Recounts blocks once per hash and catalogue: a block that stands cannot come to mean anything else. */
export function createRecounter(): (
  chains: readonly SimulatedChain[],
  catalogue: SimulatedCatalogue,
) => Promise<Recount> {
  const remembered = new WeakMap<SimulatedCatalogue, Map<string, readonly ReadRow[]>>();
  return async (chains, catalogue) => {
    const blocks = remembered.get(catalogue) ?? new Map<string, readonly ReadRow[]>();
    remembered.set(catalogue, blocks);
    const rows: ReadRow[] = [];
    for (const { chain, model, config } of chains) {
      for (let number = config().startBlock; number <= model.head().number; number++) {
        const hash = model.blockHash(number);
        const counted = blocks.get(hash) ?? (await countBlock(chain, number, { model, catalogue }));
        blocks.set(hash, counted);
        rows.push(...counted);
      }
    }
    return recountOf(rows);
  };
}

async function countBlock(
  chain: Chain,
  number: number,
  { model, catalogue }: { model: SimulatedChain['model']; catalogue: SimulatedCatalogue },
): Promise<ReadRow[]> {
  const rows = await readRangeNaively(model.rpc, catalogue.naive(chain), number, number);
  return rows.map((row) => ({
    ...row,
    chain,
    time: Date.parse(row.block_time) / 1_000,
    // Every token of the simulation is a dollar with six decimals.
    usdMicros: BigInt(row.amount),
  }));
}

function recountOf(rows: readonly ReadRow[]): Recount {
  const settlements = new Map<string, string>();
  const walletLog = new Map<string, string>();
  for (const row of rows) {
    const place = [row.chain, row.block_number, row.time, row.log_index].join('|');
    const money = [row.asset, row.amount].join('|');
    const grade = [row.relayer, row.facilitator ?? '', row.method].join('|');
    settlements.set(place, [row.tx_hash, row.payer, row.payee, money, grade].join('|'));
    walletLog.set(`${row.payer}|payer|${place}`, [row.tx_hash, row.payee, money, grade].join('|'));
    walletLog.set(`${row.payee}|payee|${place}`, [row.tx_hash, row.payer, money, grade].join('|'));
  }
  return { settlements, walletLog, ...totalsOf(rows) };
}

export function totalsOf(rows: readonly CountedRow[]): Totals {
  // Deposits are rows, and count nowhere.
  const counted = rows.filter(({ kind }) => kind === 'payment');
  const pairs = totalsBy(counted, ({ payer, payee, chain }) => `${payer}|${payee}|${chain}`, pairLine);
  return {
    pairs,
    pairsByPayee: pairs,
    payees: totalsBy(
      counted,
      ({ payee, chain }) => `${payee}|${chain}`,
      partyLine(({ payer }) => payer),
    ),
    payers: totalsBy(
      counted,
      ({ payer, chain }) => `${payer}|${chain}`,
      partyLine(({ payee }) => payee),
    ),
    relayers: totalsBy(counted, ({ relayer, chain }) => `${relayer}|${chain}`, relayerLine),
    chainHours: totalsBy(
      counted,
      ({ chain, time, facilitator }) => `${chain}|${time - (time % 3_600)}|${facilitator ?? ''}`,
      (group) => [group.length, usdOf(group)].join('|'),
    ),
  };
}

function totalsBy(
  rows: readonly CountedRow[],
  keyOf: (row: CountedRow) => string,
  lineOf: (group: readonly CountedRow[]) => string,
): Lines {
  const groups = new Map<string, CountedRow[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return new Map([...groups].map(([key, group]) => [key, lineOf(group)]));
}

function usdOf(rows: readonly CountedRow[]): bigint {
  return rows.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
}

const partyLine =
  (otherOf: (row: CountedRow) => string) =>
  (rows: readonly CountedRow[]): string => {
    const self = rows.filter(({ payer, payee }) => payer === payee);
    const proven = rows.filter(({ method }) => method === 'facilitator_relay');
    return [
      rows.length,
      usdOf(rows),
      self.length,
      usdOf(self),
      proven.length,
      usdOf(proven),
      new Set(rows.map(otherOf)).size,
      ...timesOf(rows),
    ].join('|');
  };

function pairLine(rows: readonly CountedRow[]): string {
  const proven = rows.filter(({ method }) => method === 'facilitator_relay');
  return [rows.length, usdOf(rows), proven.length, usdOf(proven), ...timesOf(rows)].join('|');
}

function relayerLine(rows: readonly CountedRow[]): string {
  const distinct = (partyOf: (row: CountedRow) => string) => new Set(rows.map(partyOf)).size;
  return [
    rows.length,
    usdOf(rows),
    distinct(({ payer }) => payer),
    distinct(({ payee }) => payee),
    ...timesOf(rows),
  ].join('|');
}

function timesOf(rows: readonly CountedRow[]): number[] {
  const times = rows.map(({ time }) => time);
  return [Math.min(...times), Math.max(...times)];
}

const LIVE_ROWS_MAX = 100_000;

/** What the rows of the index add up to, for what stands in tables that are derived from them. */
export async function totalsOfStoredRows(reader: Reader): Promise<Totals> {
  const { rows } = await reader.rows({
    name: 'oracle-live-rows',
    sql: sql`SELECT chain, toUnixTimestamp(block_time), ${accountText('payer')}, ${accountText('payee')},
      ${accountText('relayer')}, facilitator, toString(method), toString(toInt64(amount_usd * 1000000)), kind
      FROM settlements FINAL WHERE del = 0`,
    maxSeconds: 30,
    maxRows: LIVE_ROWS_MAX,
  });
  return totalsOf(
    rows.map((row) => {
      const [
        chain = '',
        time,
        payer = '',
        payee = '',
        relayer = '',
        facilitator = '',
        method = '',
        micros = '0',
        kind = '',
      ] = row.map(String);
      return {
        chain,
        time: Number(time),
        payer,
        payee,
        relayer,
        facilitator: facilitator === '' ? null : facilitator,
        method,
        kind,
        usdMicros: BigInt(micros),
      };
    }),
  );
}

const DIFFERENCES_SHOWN_MAX = 5;

/** What the index says otherwise than the recount, in words, part by part; empty when both agree. */
export function differencesOf<Part extends string>(
  index: Readonly<Record<Part, Lines>>,
  truth: Readonly<Record<Part, Lines>>,
): string[] {
  const parts = Object.keys(truth) as Part[]; // its keys, by its type
  return parts.flatMap((part) => differences(part, index[part], truth[part]));
}

function differences(part: string, index: Lines, truth: Lines): string[] {
  const keys = [...new Set([...index.keys(), ...truth.keys()])].filter(
    (key) => index.get(key) !== truth.get(key),
  );
  const shown = keys
    .slice(0, DIFFERENCES_SHOWN_MAX)
    .map((key) => `  ${key}\n    index ${index.get(key) ?? '-'}\n    truth ${truth.get(key) ?? '-'}`);
  return keys.length === 0 ? [] : [`${part}: ${keys.length} of ${truth.size} differ`, ...shown];
}
