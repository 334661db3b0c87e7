import type { Chain } from '../../core/domain/chains.ts';
import { type ExpectedRow, readRangeNaively } from './naive-reader.ts';
import type { SimulatedCatalogue, SimulatedChain } from './simulated-world.ts';

/**
 * The totals that every read path must give, added up from receipts one row at a time. Figures are one line of text per key, so
 * that two sides are compared as a whole and a difference prints itself.
 */
export type Lines = ReadonlyMap<string, string>;

export interface Recount {
  /** `chain|block|time|log index` to everything that is stored of a settlement. */
  readonly settlements: Lines;
  /** `wallet|role|chain|block|time|log index` to the same as its party sees it. */
  readonly walletLog: Lines;
  readonly payees: Lines;
  readonly payers: Lines;
  readonly relayers: Lines;
  readonly chainHours: Lines;
}

interface CountedRow extends ExpectedRow {
  readonly chain: Chain;
  readonly time: number;
}

/** Recounts blocks once per hash and catalogue: a block that stands cannot come to mean anything else. */
export function createRecounter(): (
  chains: readonly SimulatedChain[],
  catalogue: SimulatedCatalogue,
) => Promise<Recount> {
  const remembered = new WeakMap<SimulatedCatalogue, Map<string, readonly CountedRow[]>>();
  return async (chains, catalogue) => {
    const blocks = remembered.get(catalogue) ?? new Map<string, readonly CountedRow[]>();
    remembered.set(catalogue, blocks);
    const rows: CountedRow[] = [];
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
): Promise<CountedRow[]> {
  const rows = await readRangeNaively(model.rpc, catalogue.naive(chain), number, number);
  return rows.map((row) => ({ ...row, chain, time: Date.parse(row.block_time) / 1_000 }));
}

function recountOf(rows: readonly CountedRow[]): Recount {
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
  // Deposits are rows, and count nowhere.
  const counted = rows.filter(({ method }) => method !== 'channel_deposit');
  return {
    settlements,
    walletLog,
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

/** Every token of the simulation is a dollar with six decimals, so atomic units are micros. */
function usdOf(rows: readonly CountedRow[]): bigint {
  return rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
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
