/**
 * How sure we are that a transfer was an x402 settlement. The ladder is one table, from which the engine's Enum8, the answers, the
 * `min_probability` filter and docs/methodology.md are derived. See docs/design/evidence.md.
 */

export type EvidenceTier = 'proven' | 'probable' | 'unproven' | 'not_x402' | 'ungraded';

interface Rung {
  /** Position in the engine's Enum8. Never reused for another method. */
  readonly code: number;
  /** true: a named facilitator relayed it; false: examined, and not a payment; null: not established, which does not disprove it. */
  readonly verified: boolean | null;
  readonly tier: EvidenceTier;
  /** Null if nothing was examined: unknown is not zero. */
  readonly probability: number | null;
  readonly meaning: string;
}

export const EVIDENCE_LADDER = {
  facilitator_relay: {
    code: 6,
    verified: true,
    tier: 'proven',
    probability: 1.0,
    meaning:
      'Authorization and transfer are paired (or a Permit2 proxy settled), and a named facilitator relayed it.',
  },
  builder_code: {
    code: 5,
    verified: null,
    tier: 'probable',
    probability: 0.9,
    meaning:
      'Paired and relayed by a third party; the calldata carries an ERC-8021 facilitator code or the call goes through an x402-only contract. Or a payment channel of x402 claimed a voucher of the payer.',
  },
  catalogued_payee: {
    code: 4,
    verified: null,
    tier: 'probable',
    probability: 0.7,
    meaning: 'Paired and relayed by a third party; the payee is the payTo of a catalogued resource.',
  },
  gasless_authorization: {
    code: 3,
    verified: null,
    tier: 'unproven',
    probability: 0.3,
    meaning:
      'Paired and relayed by a third party; nothing else is known (treasury sweeps and exchanges look like this too). On Solana: of the form of `exact`, which sponsored wallets have too.',
  },
  self_relayed: {
    code: 2,
    verified: null,
    tier: 'unproven',
    probability: 0.1,
    meaning: 'Paired, but relayed by the payer or the payee themselves, or made by receiveWithAuthorization.',
  },
  bare_transfer: {
    code: 1,
    verified: false,
    tier: 'not_x402',
    probability: 0.05,
    meaning:
      'A plain transfer to a catalogued payTo without any EIP-3009 marker. On Solana also one with a sponsored fee that has not the form of `exact`.',
  },
  channel_move: {
    code: 7,
    verified: false,
    tier: 'not_x402',
    probability: 0,
    meaning:
      'Money into or out of a payment channel or an escrow: a deposit, a payout or a return, regardless of the relayer. It is no payment, so it counts in no sum.',
  },
  not_examined: {
    code: 0,
    verified: null,
    tier: 'ungraded',
    probability: null,
    meaning: 'The transaction behind the transfer has not been read yet.',
  },
} as const satisfies Record<string, Rung>;

export type EvidenceMethod = keyof typeof EVIDENCE_LADDER;

export const EVIDENCE_METHODS = Object.keys(EVIDENCE_LADDER) as readonly EvidenceMethod[];

export const EVIDENCE_TIERS = [
  'proven',
  'probable',
  'unproven',
  'not_x402',
  'ungraded',
] as const satisfies readonly EvidenceTier[];

/**
 * Facts found on chain or in a catalogue, one bit each, stored in the row so that a regrade needs no chain access. The order is the
 * storage format: append only.
 */
export const REASON_MEANINGS = {
  authorization_used: 'An `AuthorizationUsed` event of the payer (EIP-3009) belongs to the transfer.',
  permit2_settled: 'The Permit2 proxy of x402 settled the transfer.',
  direct_call: 'The transaction called the token itself, with the payer, payee and amount of the transfer.',
  routed_call: 'The transaction called another contract, or the token in another way.',
  third_party_relay: 'Neither payer nor payee sent the transaction.',
  relayed_by_payer: 'The payer sent the transaction.',
  relayed_by_payee: 'The payee sent the transaction.',
  receive_with_authorization:
    'The payee took the payment itself (`receiveWithAuthorization`), so nothing was relayed.',
  builder_code: 'The calldata names a builder code of a facilitator (ERC-8021).',
  x402_contract: 'The call went through a contract that serves x402 only.',
  payee_catalogued: 'A resource of a catalogue is paid at the payee.',
  relayer_named: 'The sender of the transaction is a known relayer of a facilitator.',
  no_marker: 'Neither an authorization nor Permit2: a plain transfer.',
  self_payment: 'Payer and payee are one wallet.',
  channel_move: 'Money went into or out of a payment channel or an escrow.',
  voucher_claimed: 'A payment channel of x402 (batch-settlement) claimed a voucher that the payer signed.',
  escrow_captured: 'An escrow (auth-capture) captured or charged the payment.',
  sponsored_exact:
    'Solana: another account paid the fee and gave nothing else, in a transaction of the form that scheme `exact` has there.',
  sponsored_transfer:
    'Solana: another account than the payer paid the fee, in a transaction of another form.',
} as const;

export type Reason = keyof typeof REASON_MEANINGS;

export const REASONS = Object.keys(REASON_MEANINGS) as readonly Reason[];

/** The bit of each reason. */
export const SEEN = Object.fromEntries(REASONS.map((reason, bit) => [reason, 1 << bit])) as Readonly<
  Record<Reason, number>
>;

/** Decodes a stored bit set into reasons, in the order of the table. */
export function reasonsOf(seen: number): Reason[] {
  return REASONS.filter((reason) => (seen & SEEN[reason]) !== 0);
}

/** The `evidence` object of a settlement row. */
export interface Evidence {
  readonly verified: boolean | null;
  readonly method: EvidenceMethod;
  readonly probability: number | null;
  readonly tier: EvidenceTier;
  readonly reasons: readonly Reason[];
}

export function evidenceOf(method: EvidenceMethod, seen: number): Evidence {
  const { verified, probability, tier } = EVIDENCE_LADDER[method];
  return { verified, method, probability, tier, reasons: reasonsOf(seen) };
}

/** Methods of a tier, for filters in SQL. */
export function methodsOfTier(tier: EvidenceTier): EvidenceMethod[] {
  return EVIDENCE_METHODS.filter((method) => EVIDENCE_LADDER[method].tier === tier);
}
