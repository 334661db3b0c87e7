import { type Static, Type } from '@sinclair/typebox';
import type { Reader, Row, Statement } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, sql, text, unionAll } from '../../../clickhouse/engine/sql.ts';
import {
  ALL_TIME,
  EVERYTHING_OPEN,
  isOpen,
  openRows,
  type RollupCoverage,
} from '../../../clickhouse/tables/coverage.ts';
import { microsFromDecimal, usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { ChainShape, CountShape, TimeShape, timeText, UsdShape } from '../shapes.ts';
import { askWallet, fromClosedRows, fromWalletRows, type WalletScope } from './scope.ts';

/** What an answer about one chain leaves out: without it, a wallet that is paid on another chain would look as if it was never paid. */

export interface Elsewhere {
  readonly chain: Chain;
  readonly count: number;
  readonly usdMicros: bigint;
  /** Unix seconds. */
  readonly lastSeen: number;
}

interface ElsewhereQuery extends WalletScope {
  readonly role: JudgedRole;
  readonly chains: readonly Chain[];
}

const MAX_SECONDS = 10;
/** More chains than a deployment lists. */
const CHAINS_MAX = 1_000;

/**
 * What the wallet did in the role on the chains that were not asked for, the most settlements first; null where all were. A small wallet is
 * counted from its rows, which lie together whatever their chain; `coverageOfAll` is asked only for a larger one.
 */
export async function readElsewhere(
  reader: Reader,
  query: ElsewhereQuery,
  coverageOfAll: () => Promise<RollupCoverage>,
): Promise<readonly Elsewhere[] | null> {
  const { chain: left, chains, ...scope } = query;
  if (left === undefined) return null;
  return chains.length === 1 ? [] : readByChain(reader, { ...scope, chain: undefined, left }, coverageOfAll);
}

interface ByChainQuery extends WalletScope {
  readonly role: JudgedRole;
  /** The chain that is not wanted; null: all are. */
  readonly left: Chain | null;
}

/** What the wallet did in the role on each chain, the most settlements first. */
export async function readByChain(
  reader: Reader,
  query: ByChainQuery,
  coverageOfAll: () => Promise<RollupCoverage>,
): Promise<readonly Elsewhere[]> {
  const rows = await askWallet(reader, query, {
    rows: [statement(query, EVERYTHING_OPEN)],
    sums: async () => statement(query, await coverageOfAll()),
  });
  return rows.map(decodeElsewhere);
}

function statement({ left, role, ...everywhere }: ByChainQuery, coverage: RollupCoverage): Statement {
  const others = sql`chain != ${text(left ?? '')}`;
  const parts = [
    sql`SELECT chain, count() AS n, sum(toDecimal128(amount_usd, 6)) AS usd, max(block_time) AS last
      ${fromWalletRows(everywhere, allOf([sql`role = ${text(role)}`, others, openRows(coverage)]))} GROUP BY chain`,
  ];
  if (!isOpen(coverage, ALL_TIME)) {
    const { received, paid } = fromClosedRows(everywhere, coverage);
    parts.push(sql`SELECT chain, sum(settlement_count) AS n, sum(settled_usd) AS usd, max(last_time) AS last
      ${role === 'payee' ? received : paid} AND ${others} GROUP BY chain`);
  }
  return {
    name: 'profile-elsewhere',
    maxSeconds: MAX_SECONDS,
    maxRows: CHAINS_MAX,
    sql: sql`SELECT chain, sum(n) AS settlements, toString(sum(usd)), toUnixTimestamp(max(last))
      FROM (${unionAll(parts)}) GROUP BY chain ORDER BY settlements DESC, chain`,
  };
}

/** Columns: chain, settlements, dollars as text, Unix seconds of the newest. */
export function decodeElsewhere(row: Row): Elsewhere {
  return {
    chain: textField(row[0]) as Chain, // written by ingest from `Chain` values only
    count: integerField(row[1]),
    usdMicros: microsFromDecimal(textField(row[2])),
    lastSeen: integerField(row[3]),
  };
}

export const ElsewhereShape = Type.Array(
  Type.Object(
    { chain: ChainShape, settlement_count: CountShape, usd: UsdShape, last_seen: TimeShape },
    { title: 'Elsewhere' },
  ),
  {
    description:
      'Only with `chain`: the same role on the indexed chains that it left out, the most settlements first; empty where there is nothing.',
  },
);

/** To be spread into an answer: without a chain nothing was left out. */
export function elsewhereAnswer(found: readonly Elsewhere[] | null): {
  elsewhere?: Static<typeof ElsewhereShape>;
} {
  if (found === null) return {};
  return {
    elsewhere: found.map(({ chain, count, usdMicros, lastSeen }) => ({
      chain,
      settlement_count: count,
      usd: usdNumber(usdMicros),
      last_seen: timeText(lastSeen),
    })),
  };
}
