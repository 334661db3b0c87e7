import type { Address } from '../../../core/domain/account.ts';
import {
  EVIDENCE_LADDER,
  EVIDENCE_METHODS,
  type EvidenceMethod,
  REASONS,
  SEEN,
} from '../../../core/domain/evidence.ts';
import { accountLiteral } from '../../engine/account.ts';
import { plainColumns } from '../../tables/plain-settlements.ts';
import { type WalletIdKey, walletIdText } from '../../tables/wallet-ids.ts';
import { accountText, dollars, hashText, known, transactionText, USD, type ViewBody, word } from './body.ts';
import { decimalsText, namesText, type PublicFacts } from './facts.ts';

/** Grades by the code of their method, as arrays that the engine indexes: a fifth of the time of comparing names. */
const codes = Array.from({ length: Math.max(...EVIDENCE_METHODS.map(codeOf)) + 1 }, (_, code) => code);
const CODE = 'toUInt8(t.method) + 1';

function codeOf(method: EvidenceMethod): number {
  return EVIDENCE_LADDER[method].code;
}

function listed(textOf: (method: EvidenceMethod) => string): string {
  return codes
    .map((code) => textOf(EVIDENCE_METHODS.find((method) => codeOf(method) === code) ?? 'not_examined'))
    .join(', ');
}

const METHOD = word(
  listed((method) => `'${method}'`),
  CODE,
);
export const TIER = word(
  listed((method) => `'${EVIDENCE_LADDER[method].tier}'`),
  CODE,
);
const PROBABILITY = `[${listed((method) => EVIDENCE_LADDER[method].probability?.toFixed(2) ?? 'NULL')}][${CODE}]`;

export const CHANNEL_TEXT = hashText('channel');
const CHANNEL = `if(t.channel = '', NULL, ${CHANNEL_TEXT})`;

/** The names of the bits that are set. */
const REASONS_SEEN = `arrayFilter((reason, bit) -> bitAnd(t.seen, bit) != 0, [${REASONS.map((reason) => `'${reason}'`).join(', ')}], [${REASONS.map((reason) => `toUInt32(${SEEN[reason]})`).join(', ')}])`;

export function settlementsBody({
  database,
  finalBlocks,
  facts,
  idKey,
}: {
  readonly database: string;
  /** Expressions of two arrays that are not empty: chains, and the newest final block of each. */
  readonly finalBlocks: readonly [chains: string, blocks: string];
  readonly facts: PublicFacts;
  readonly idKey: WalletIdKey;
}): ViewBody<'settlements'> {
  const finalBlock = `transform(t.chain, ${finalBlocks[0]}, ${finalBlocks[1]}, 0)`;
  return {
    columns: {
      ...settlementColumns(facts, (address) => `'${address}'`),
      amount_usd: dollars('t.amount_usd'),
      // Without a reported final block the value is 0, and blocks begin above it.
      finality: word("'head', 'finalized'", `1 + (t.block_number <= ${finalBlock})`),
    },
    from: settlementsFrom(database, idKey),
  };
}

/**
 * Looked up once per query, not once per row: the engine computes a subquery that is written twice once. An array must not be empty, so '' is
 * added, which is no chain.
 */
export function finalBlocksIn(beside: string): [chains: string, blocks: string] {
  const reported = `(SELECT (arrayPushBack(groupArray(toString(chain)), ''), arrayPushBack(groupArray(finalized_block), 0)) FROM ${beside}.chain_status FINAL)`;
  return [`${reported}.1`, `${reported}.2`];
}

/** The columns that are the same whether addresses are texts or bytes. `stored`: an address as `t.asset` holds it. */
export function settlementColumns(facts: PublicFacts, stored: (address: Address) => string) {
  return {
    tx_hash: transactionText('tx_hash'),
    facilitator: known('facilitator'),
    evidence_probability: PROBABILITY,
    evidence_method: METHOD,
    facilitator_name: namesText(facts),
    asset_decimals: decimalsText(facts, stored),
    evidence_reasons: REASONS_SEEN,
    channel: CHANNEL,
    memo: "nullIf(t.memo, '')",
    builder_facilitator: known('builder_facilitator'),
    builder_apps: "arrayFilter(app -> app != '', splitByChar(',', toString(t.builder_apps)))",
  } as const;
}

/**
 * The months that are current as a copy, and the rows of all other hours. `has` over the result of a subquery is a constant when the
 * query is planned, so the engine leaves out whole parts; the engine computes a subquery that is written twice once.
 */
function settlementsFrom(database: string, idKey: WalletIdKey): string {
  const coverage = `(SELECT (groupArrayIf(gen, is_plain), groupArrayArray(open_hours)) FROM ${database}.plain_coverage)`;
  return settlementsOf(database, idKey, {
    copies: `has(${coverage}.1, gen)`,
    others: `del = 0 AND toStartOfHour(block_time) IN (SELECT arrayJoin(${coverage}.2))`,
  });
}

/** Rows of copies, and the others, by a condition on each. */
export function settlementsOf(
  database: string,
  idKey: WalletIdKey,
  conditions: { readonly copies: string; readonly others: string },
): string {
  const columns = plainColumns(idKey);
  const copied = Object.keys(columns).map((name) => (name === 'method_code' ? `${name} AS method` : name));
  return `(
  SELECT ${copied.join(', ')}
  FROM ${database}.plain_settlements WHERE ${conditions.copies}
  UNION ALL
  SELECT ${Object.values(columns).join(', ')}
  FROM ${database}.settlements FINAL
  WHERE ${conditions.others}
) AS t`;
}

export function walletSettlementsBody(
  database: string,
  facts: PublicFacts,
  idKey: WalletIdKey,
): ViewBody<'wallet_settlements'> {
  return {
    columns: {
      role: "CAST(t.role, 'LowCardinality(String)')",
      counterparty: accountText('counterparty'),
      tx_hash: transactionText('tx_hash'),
      asset: accountText('asset'),
      amount_usd: USD,
      facilitator: known('facilitator'),
      evidence_tier: TIER,
      evidence_probability: PROBABILITY,
      facilitator_name: namesText(facts),
      asset_decimals: decimalsText(facts, accountLiteral),
      relayer: accountText('relayer'),
      is_self_payment: `CAST(t.wallet = ${accountText('counterparty')}, 'Bool')`,
      evidence_method: METHOD,
      evidence_reasons: REASONS_SEEN,
      channel: CHANNEL,
      wallet_id: walletIdText(idKey, 't.wallet'),
      counterparty_id: walletIdText(idKey, accountText('counterparty')),
    },
    from: `${database}.wallet_rows AS t FINAL WHERE t.del = 0`,
  };
}

export function transactionFeesBody(database: string, facts: PublicFacts): ViewBody<'transaction_fees'> {
  return {
    columns: {
      tx_hash: transactionText('tx_hash'),
      relayer: accountText('relayer'),
      facilitator: known('facilitator'),
      facilitator_name: namesText(facts),
      gas_price_wei: 't.gas_price',
      l1_fee_wei: 't.l1_fee',
      fee_wei: 't.fee',
    },
    from: `${database}.transaction_fees AS t FINAL WHERE t.del = 0`,
  };
}
