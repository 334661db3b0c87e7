import {
  EVIDENCE_LADDER,
  EVIDENCE_METHODS,
  type EvidenceMethod,
  REASONS,
  SEEN,
} from '../../../core/domain/evidence.ts';
import { hex, known, USD, type ViewBody, word } from './body.ts';
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
const TIER = word(
  listed((method) => `'${EVIDENCE_LADDER[method].tier}'`),
  CODE,
);
const PROBABILITY = `[${listed((method) => EVIDENCE_LADDER[method].probability?.toFixed(2) ?? 'NULL')}][${CODE}]`;

/** The names of the bits that are set. */
const REASONS_SEEN = `arrayFilter((reason, bit) -> bitAnd(t.seen, bit) != 0, [${REASONS.map((reason) => `'${reason}'`).join(', ')}], [${REASONS.map((reason) => `toUInt32(${SEEN[reason]})`).join(', ')}])`;

export function settlementsBody(
  database: string,
  beside: string,
  facts: PublicFacts,
): ViewBody<'settlements'> {
  const reported = (values: string): string => `(SELECT ${values} FROM ${beside}.chain_status FINAL)`;
  // Looked up once per chain, not once per row. The array must not be empty, so '' is added, which is no chain.
  const finalBlock = `transform(t.chain, ${reported("arrayPushBack(groupArray(toString(chain)), '')")}, ${reported('arrayPushBack(groupArray(finalized_block), 0)')}, 0)`;
  return {
    columns: {
      chain: 't.chain',
      block_number: 't.block_number',
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
      payer: hex('payer'),
      payee: hex('payee'),
      asset: hex('asset'),
      asset_symbol: 't.asset_symbol',
      amount: 't.amount',
      amount_usd: USD,
      relayer: hex('relayer'),
      facilitator: known('facilitator'),
      is_self_payment: 't.is_self_payment',
      // Without a reported final block the value is 0, and blocks begin above it.
      finality: word("'head', 'finalized'", `1 + (t.block_number <= ${finalBlock})`),
      evidence_tier: 't.evidence_tier',
      evidence_probability: PROBABILITY,
      evidence_method: METHOD,
      facilitator_name: namesText(facts),
      asset_decimals: decimalsText(facts),
      evidence_reasons: REASONS_SEEN,
      builder_facilitator: known('builder_facilitator'),
      builder_apps: "arrayFilter(app -> app != '', splitByChar(',', toString(t.builder_apps)))",
      block_hash: hex('block_hash'),
    },
    from: `${database}.settlements AS t FINAL WHERE t.del = 0`,
  };
}

export function walletSettlementsBody(database: string, facts: PublicFacts): ViewBody<'wallet_settlements'> {
  return {
    columns: {
      wallet: 't.wallet',
      role: "CAST(t.role, 'LowCardinality(String)')",
      counterparty: hex('counterparty'),
      chain: 't.chain',
      block_number: 't.block_number',
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
      asset: hex('asset'),
      amount: 't.amount',
      amount_usd: USD,
      facilitator: known('facilitator'),
      evidence_tier: TIER,
      evidence_probability: PROBABILITY,
      facilitator_name: namesText(facts),
      asset_decimals: decimalsText(facts),
      asset_symbol: 't.asset_symbol',
      relayer: hex('relayer'),
      is_self_payment: "CAST(t.wallet = concat('0x', lower(hex(t.counterparty))), 'Bool')",
      evidence_method: METHOD,
      evidence_reasons: REASONS_SEEN,
    },
    from: `${database}.wallet_log AS t FINAL WHERE t.del = 0`,
  };
}
