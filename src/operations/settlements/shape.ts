import { type Static, Type } from '@sinclair/typebox';
import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import { ADDRESS_PATTERN, type Address, TRANSACTION_PATTERN } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import { type TokenKey, tokenKey } from '../../../core/domain/chains.ts';
import {
  EVIDENCE_LADDER,
  EVIDENCE_METHODS,
  EVIDENCE_TIERS,
  evidenceOf,
  REASONS,
} from '../../../core/domain/evidence.ts';
import {
  type Finality,
  NO_CHANNEL,
  PAYMENT_SCHEMES,
  SETTLEMENT_KINDS,
} from '../../../core/domain/settlement.ts';
import type { Directory } from '../names.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  NameSourceShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';

/** The settlement row of every list. See docs/design/evidence.md. */

const EvidenceShape = Type.Object(
  {
    verified: orNull(
      Type.Boolean({
        description:
          'true: a named facilitator relayed it. false: examined, no EIP-3009 marker. null: not established, which is not disproven.',
      }),
    ),
    method: oneOf(EVIDENCE_METHODS, { title: 'EvidenceMethod' }),
    probability: orNull(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: `Null when not examined, else one of ${probabilities().join(', ')}.`,
      }),
    ),
    tier: oneOf(EVIDENCE_TIERS, { title: 'EvidenceTier' }),
    reasons: Type.Array(oneOf(REASONS, { title: 'EvidenceReason' }), {
      description: 'What was seen, machine-readable.',
    }),
  },
  { title: 'Evidence' },
);

function probabilities(): number[] {
  const steps = EVIDENCE_METHODS.map((method) => EVIDENCE_LADDER[method].probability);
  return [...new Set(steps.filter((step) => step !== null))].sort((a, b) => b - a);
}

export const TX_HASH_SHAPE = Type.String({ pattern: TRANSACTION_PATTERN });

const PLAIN_FIELDS = {
  chain: ChainShape,
  block_number: CountShape,
  block_time: TimeShape,
  tx_hash: TX_HASH_SHAPE,
  log_index: Type.Integer({ minimum: 0, description: 'Index in its block of the log that shows it.' }),
  payer: AddressShape,
  payee: AddressShape,
  asset: AddressShape,
  asset_symbol: Type.String(),
  decimals: orNull(
    Type.Integer({
      minimum: 0,
      maximum: 255,
      description: 'Decimals of the asset: `amount` / 10^decimals is in whole tokens. Null when not known.',
    }),
  ),
  amount: Type.String({ pattern: '^[0-9]+$', description: 'Atomic units of the asset, a decimal string.' }),
  amount_usd: orNull(UsdShape),
  relayer: Type.String({ pattern: ADDRESS_PATTERN, description: 'Sender of the transaction.' }),
  facilitator: orNull(Type.String({ description: 'Id of the named facilitator, or null.' })),
  is_self_payment: Type.Boolean({ description: 'Payer equals payee. Annotated, not hidden.' }),
  finality: oneOf(['head', 'finalized'], {
    title: 'Finality',
    description: 'head: a reorg can still undo it.',
  }),
  kind: oneOf(SETTLEMENT_KINDS, {
    title: 'SettlementKind',
    description:
      'Only payments count in figures. A deposit goes into a payment channel or an escrow and pays no seller.',
  }),
  scheme: oneOf(PAYMENT_SCHEMES, {
    title: 'PaymentScheme',
    description: 'The x402 scheme whose form it has; `evidence` says whether it was x402.',
  }),
  channel: orNull(
    Type.String({
      pattern: '^0x[0-9a-f]+$',
      description: 'Id of the payment channel or escrowed payment that it belongs to.',
    }),
  ),
  fee_amount: orNull(
    Type.String({
      pattern: '^[0-9]+$',
      description: 'Part of `amount` that went to a fee receiver. Null where the scheme has none.',
    }),
  ),
  evidence: EvidenceShape,
};

const NameShape = orNull(Type.String());

/** What a snapshot does not hold of a named row: names are claims of today. */
export const NAMES_LEFT_OUT = [
  'payer_name',
  'payer_name_source',
  'payee_name',
  'payee_name_source',
  'facilitator_name',
] as const;

export const SettlementShape = Type.Object(PLAIN_FIELDS, { title: 'Settlement' });
export const NamedSettlementShape = Type.Object(
  {
    ...PLAIN_FIELDS,
    payer_name: NameShape,
    payer_name_source: NameSourceShape,
    payee_name: NameShape,
    payee_name_source: NameSourceShape,
    facilitator_name: NameShape,
  },
  { title: 'NamedSettlement' },
);

type SettlementAnswer = Static<typeof SettlementShape>;
type NamedSettlementAnswer = Static<typeof NamedSettlementShape>;

/** What a deployment knows about tokens. */
interface TokenFacts {
  readonly tokenDecimals: ReadonlyMap<TokenKey, number>;
}

export function isSelfPayment(row: ListedSettlement): boolean {
  return row.payer === row.payee;
}

/** Captures and charges of an escrow. */
function hasFee({ scheme, kind }: ListedSettlement): boolean {
  return scheme === 'auth-capture' && kind === 'payment';
}

export function settlementAnswer(
  row: ListedSettlement,
  finality: Finality,
  { tokenDecimals }: TokenFacts,
): SettlementAnswer {
  const evidence = evidenceOf(row.method, row.seen);
  return {
    chain: row.chain,
    block_number: row.blockNumber,
    block_time: timeText(row.blockTime),
    tx_hash: row.txHash,
    log_index: row.logIndex,
    payer: row.payer,
    payee: row.payee,
    asset: row.asset,
    asset_symbol: row.assetSymbol,
    decimals: tokenDecimals.get(tokenKey(row.chain, row.asset)) ?? null,
    amount: row.amount.toString(),
    amount_usd: row.usdKnown ? usdNumber(row.amountUsdMicros) : null,
    relayer: row.relayer,
    facilitator: row.facilitator === '' ? null : row.facilitator,
    is_self_payment: isSelfPayment(row),
    finality,
    kind: row.kind,
    scheme: row.scheme,
    channel: row.channel === NO_CHANNEL ? null : row.channel,
    fee_amount: hasFee(row) ? row.feeAmount.toString() : null,
    evidence: { ...evidence, reasons: [...evidence.reasons] },
  };
}

export function namedSettlementAnswer(
  row: ListedSettlement,
  finality: Finality,
  tokens: TokenFacts,
  directory: Directory,
): NamedSettlementAnswer {
  // Assigned, not spread: spreading so many fields into a literal is 30 times slower (V8's slow path).
  const payer = directory.walletName(row.payer, [row.chain]);
  const payee = directory.walletName(row.payee, [row.chain]);
  return Object.assign(settlementAnswer(row, finality, tokens), {
    payer_name: payer?.name ?? null,
    payer_name_source: payer?.source ?? null,
    payee_name: payee?.name ?? null,
    payee_name_source: payee?.source ?? null,
    facilitator_name: row.facilitator === '' ? null : directory.facilitatorName(row.facilitator),
  });
}

/** The wallets that a page names. */
export function partiesOf(rows: readonly ListedSettlement[]): Address[] {
  return rows.flatMap(({ payer, payee }) => [payer, payee]);
}

/** A row as documentation shows it. */
export const SETTLEMENT_EXAMPLE: SettlementAnswer = {
  chain: 'eip155:8453',
  block_number: 38_412_077,
  block_time: '2026-11-20T09:15:01Z',
  tx_hash: '0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39',
  log_index: 214,
  payer: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  payee: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  asset_symbol: 'USDC',
  decimals: 6,
  amount: '10000',
  amount_usd: 0.01,
  relayer: '0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6',
  facilitator: 'coinbase',
  is_self_payment: false,
  finality: 'finalized',
  kind: 'payment',
  scheme: 'exact',
  channel: null,
  fee_amount: null,
  evidence: {
    verified: true,
    method: 'facilitator_relay',
    probability: 1,
    tier: 'proven',
    reasons: ['authorization_used', 'direct_call', 'third_party_relay', 'relayer_named'],
  },
};

export const NAMED_SETTLEMENT_EXAMPLE: NamedSettlementAnswer = {
  ...SETTLEMENT_EXAMPLE,
  payer_name: null,
  payer_name_source: null,
  payee_name: 'Weather by the call',
  payee_name_source: 'agent_card',
  facilitator_name: 'Coinbase',
};
