import { accountBytes, accountText, isAccountText, NO_ACCOUNT } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { addressField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, trustedText, uint32, uint64 } from '../../../clickhouse/engine/sql.ts';
import { RANKED_WALLETS_MAX } from '../../../clickhouse/tables/generations.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type JudgedRole, VERDICTS, type Verdict } from '../../../core/domain/data-quality.ts';
import { ask } from '../ask.ts';
import type { PaymentOrder } from './orders.ts';
import { type RankedPass, rankedWallets } from './passes.ts';
import type { RankedRow } from './row.ts';
import { RANKING_SETTINGS } from './windows.ts';

/** Merchants, payers and agents by the organic payments of their wallets, as the newest pass ranked them. */

export type WalletSubject = 'merchants' | 'payers' | 'agents';

export interface WalletQuery {
  readonly of: WalletSubject;
  readonly by: PaymentOrder;
  readonly chains: readonly Chain[];
  readonly capability: string | undefined;
  /** Part of the name of a merchant. */
  readonly name?: string | undefined;
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

export const WALLETS_RESOURCE = 'wallets';
const MAX_SECONDS = 10;

export function roleOf(of: WalletSubject): JudgedRole {
  return of === 'payers' ? 'payer' : 'payee';
}

export async function readWalletRanking(
  reader: Reader,
  query: WalletQuery,
  { pass, depth }: { readonly pass: RankedPass; readonly depth: number },
): Promise<RankedRow[]> {
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: `ranking-${query.of}`,
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: rankingSql(query, pass, depth),
  });
  return rows.map((row, index) => decodeWallet(row, index + 1, pass.window !== 'all'));
}

/** The figure that ranks, `back` windows before the newest one. */
export function figureThatRanks(by: PaymentOrder, back: 0 | 1): Sql {
  const column = (figure: string, at: number = back): Sql => trustedText(`${figure}${at}`);
  switch (by) {
    case 'organic_usd':
      return column('organic_usd');
    case 'proven_usd':
      return column('organic_proven');
    case 'settlements':
      return sql`toDecimal128(${column('organic_count')}, 6)`;
    case 'counterparties':
      return sql`toDecimal128(${column('parties')}, 6)`;
    case 'growth':
      return sql`${column('organic_usd')} - ${column('organic_usd', back + 1)}`;
  }
}

/**
 * The order is cut before anything else is read of a row. Places of the window before are known as far down as a pass keeps wallets of
 * that order.
 */
function rankingSql(query: WalletQuery, pass: RankedPass, depth: number): Sql {
  const { of, by, chains, minCounterparties, includeFlagged } = query;
  const scope = { role: roleOf(of), chains, byChain: of === 'agents' };
  const kept = [
    ...(includeFlagged ? [] : [sql`verdict != 'suspect'`]),
    ...capabilityOf(query),
    ...namedLike(query),
  ];
  const wallets = withAgents(query, rankedWallets(pass, scope, kept));
  const inOrder = (back: 0 | 1, columns: Sql, limit: number): Sql => {
    const value = figureThatRanks(by, back);
    const enough = [
      sql`${value} > 0`,
      ...(minCounterparties === 0
        ? []
        : [sql`${trustedText(`parties${back}`)} >= ${uint64(minCounterparties)}`]),
    ];
    return sql`SELECT ${columns} FROM ${wallets} WHERE ${allOf(enough)} ORDER BY ${value} DESC, chain, wallet LIMIT ${uint32(limit)}`;
  };
  const shown = sql`chain, wallet, agent_id, ${figureThatRanks(by, 0)} AS value0, ${figureThatRanks(by, 1)} AS value1,
    organic_count0, organic_usd0, organic_proven0, parties0, other_usd, other_count, verdict`;
  const before = sql`SELECT chain, wallet, rowNumberInAllBlocks() + 1 AS previous
    FROM (${inOrder(1, sql`chain, wallet`, RANKED_WALLETS_MAX)})`;
  return sql`SELECT chain, ${accountText('wallet')}, agent_id, previous, toString(value0), toString(value1),
      organic_count0 + other_count, toString(organic_usd0 + other_usd), organic_count0, toString(organic_usd0), toString(organic_proven0),
      parties0, verdict
    FROM (${inOrder(0, shown, depth)}) AS now
    LEFT JOIN (${before}) AS before USING (chain, wallet)
    ORDER BY value0 DESC, chain, wallet`;
}

/**
 * Agents with the figures of their wallets. A wallet that several agents of a chain are paid at counts once, for the one that registered
 * first: otherwise one wallet would fill a page.
 */
function withAgents({ of, capability }: WalletQuery, wallets: Sql): Sql {
  if (of !== 'agents') return sql`(SELECT *, '' AS agent_id FROM ${wallets})`;
  const conditions = [
    sql`del = 0`,
    sql`wallet != ${NO_ACCOUNT}`,
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
  ];
  return sql`(SELECT * FROM ${wallets} AS paid INNER JOIN (
      SELECT chain AS agent_chain, wallet AS agent_wallet, toString(min(agents.agent_id)) AS agent_id
      FROM (SELECT chain, agent_id, wallet, capabilities, del FROM agents FINAL) AS agents
      WHERE ${allOf(conditions)} GROUP BY agent_chain, agent_wallet) AS named
    ON paid.chain = named.agent_chain AND paid.wallet = named.agent_wallet)`;
}

/** Merchants of a capability: the payees of listed resources that offer it, where nothing speaks against the listing, and agents. */
function capabilityOf({ of, capability }: WalletQuery): Sql[] {
  if (of !== 'merchants' || capability === undefined) return [];
  const offers = sql`has(capabilities, ${text(capability)})`;
  return [
    sql`wallet IN (
      SELECT ${accountBytes(sql`pay_to`)} FROM (SELECT pay_to, capabilities, contested, is_published, settlement_count, del FROM endpoint_list FINAL)
        WHERE del = 0 AND ${offers} AND ${isAccountText(sql`pay_to`)} AND (NOT contested OR is_published OR settlement_count > 0)
      UNION DISTINCT
      SELECT wallet FROM (SELECT wallet, capabilities, del FROM agents FINAL) WHERE del = 0 AND ${offers})`,
  ];
}

/** Wallets that the catalogue or the card of an agent gives such a name; what they are called in the answer, names.ts decides. */
function namedLike({ name }: WalletQuery): Sql[] {
  if (name === undefined) return [];
  const isLike = sql`positionCaseInsensitiveUTF8(name, ${text(name)}) > 0`;
  return [
    sql`wallet IN (
      SELECT address FROM (SELECT address, name, del FROM catalogued_payees FINAL) WHERE del = 0 AND ${isLike}
      UNION DISTINCT
      SELECT wallet FROM (SELECT wallet, name, domain_proof, del FROM agents FINAL) WHERE del = 0 AND domain_proof != 'refuted' AND ${isLike})`,
  ];
}

function decodeWallet(row: readonly unknown[], rank: number, hasBefore: boolean): RankedRow {
  const chain = textField(row[0]) as Chain | ''; // written by ingest from `Chain` values only
  const agentId = textField(row[2]);
  const previousRank = integerField(row[3]);
  return {
    rank,
    previousRank: previousRank === 0 ? null : previousRank,
    subject: {
      wallet: addressField(row[1]),
      ...(agentId === '' || chain === '' ? {} : { chain, agentId }),
    },
    value: decimalValue(row[4]),
    previousValue: hasBefore ? decimalValue(row[5]) : null,
    figures: {
      settlements: integerField(row[6]),
      settledUsdMicros: decimalValue(row[7]),
      organicSettlements: integerField(row[8]),
      organicUsdMicros: decimalValue(row[9]),
      provenUsdMicros: decimalValue(row[10]),
      counterparties: integerField(row[11]),
    },
    verdict: verdictField(row[12]),
  };
}

export function decimalValue(field: unknown): bigint {
  return microsFromDecimal(textField(field));
}

/** As a pass wrote it; of a wallet that it did not rank, `unobserved`. */
export function verdictField(field: unknown): Verdict {
  const verdict = textField(field);
  return VERDICTS.find((known) => known === verdict) ?? 'unobserved';
}
