/**
 * How far a wallet's figures are evidence of real trade: signals with fixed thresholds, and a verdict by a fixed rule. The table,
 * the answers and docs/methodology.md use the same constants. Money is in millionths of a dollar; shares are in ten-thousandths,
 * rounded down, so a displayed value reaches the displayed threshold exactly when the true one does.
 */

/** `payee`: judged as a merchant, by who pays it. `payer`: judged as an agent, by whom it pays. */
export type JudgedRole = 'payee' | 'payer';

export const VERDICTS = ['unobserved', 'insufficient', 'clean', 'mixed', 'suspect'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Raise whenever a definition, a threshold or the rule changes: stored verdicts carry it. */
export const METHOD_VERSION = '2';

/**
 * A wallet with more rows (a settlement is one, a payment to itself two) is never read whole: it is judged by its newest ones. Reading
 * it whole takes as long as all of its rows.
 */
export const WHOLE_WALLET_ROWS_MAX = 200_000;
export const NEWEST_ROWS_MAX = 20_000;

/**
 * A smaller payment is dust: it counts in figures, and for no signal, verdict or reason, because anyone can make thousands of them for a
 * dollar. A tenth of a cent is the least price in the examples of x402 ($0.001), so goods sold for less are not judged by how often they are
 * bought. Every surface asks here, in SQL by `IS_DUST` (clickhouse/engine/counted-rows.ts).
 */
export const DUST_BELOW_USD_MICROS = 1_000n;
/** `$0.001`, as texts name it. */
export const DUST_BELOW = `$${Number(DUST_BELOW_USD_MICROS) / 1_000_000}`;

/** With fewer settlements every share is large and shows no pattern. */
export const SAMPLE_MIN_SETTLEMENTS = 10;

export const SHARE_SCALE = 10_000n;

/** From this share on, most of the money comes back, which alone is suspect. Ten-thousandths. */
export const MOSTLY_ROUND_SHARE = 5_000n;

/**
 * `round`: money returns to the wallet that paid it. `narrow`: few counterparties account for the figures; alone that fits a young
 * or specialised business, together with `round` it is a pattern.
 */
export type SignalKind = 'round' | 'narrow';

interface SignalRule {
  readonly kind: SignalKind;
  /** Ten-thousandths for shares, a plain count for `ring_membership`. Reached or passed: triggered. */
  readonly threshold: bigint;
  readonly unit: 'share' | 'count';
  readonly meaning: string;
}

export const SIGNALS = {
  self_payment_share: {
    kind: 'round',
    threshold: 1_000n,
    unit: 'share',
    meaning: 'Dollars that the wallet paid to itself, of all dollars in the judged role.',
  },
  payer_concentration: {
    kind: 'narrow',
    threshold: 2_500n,
    unit: 'share',
    meaning:
      'Merchants: Herfindahl-Hirschman index of the paying wallets, the sum of their squared shares of the dollars received. 1 is a single payer; 0.25 equals four equal ones.',
  },
  single_payer_dominance: {
    kind: 'narrow',
    threshold: 5_000n,
    unit: 'share',
    meaning: 'Merchants: the share of the largest payer.',
  },
  payee_concentration: {
    kind: 'narrow',
    threshold: 2_500n,
    unit: 'share',
    meaning:
      'Agents: Herfindahl-Hirschman index of the wallets that are paid, the sum of their squared shares of the dollars spent.',
  },
  single_payee_dominance: {
    kind: 'narrow',
    threshold: 5_000n,
    unit: 'share',
    meaning: 'Agents: the share of the largest payee.',
  },
  reciprocity: {
    kind: 'round',
    threshold: 1_000n,
    unit: 'share',
    meaning:
      'Dollars exchanged with wallets that the wallet also dealt with in the other direction (a merchant paid its payer, an agent was paid by its payee). Refunds count.',
  },
  ring_membership: {
    kind: 'round',
    threshold: 1n,
    unit: 'count',
    meaning:
      'Payment rings (money passing through two to four wallets back to its start) that the wallet is part of.',
  },
} as const satisfies Record<string, SignalRule>;

export type SignalId = keyof typeof SIGNALS;

export const SIGNALS_OF_ROLE: Readonly<Record<JudgedRole, readonly SignalId[]>> = {
  payee: [
    'self_payment_share',
    'payer_concentration',
    'single_payer_dominance',
    'reciprocity',
    'ring_membership',
  ],
  payer: [
    'self_payment_share',
    'payee_concentration',
    'single_payee_dominance',
    'reciprocity',
    'ring_membership',
  ],
};

/** Figures of the scanned settlements in the judged role, without dust. */
export interface JudgedFacts {
  readonly role: JudgedRole;
  /** Whether the wallet has any settlement in the role, scanned or not, dust or not. */
  readonly observed: boolean;
  /** Settlements of the role that were scanned, self-payments included. */
  readonly settlements: number;
  /** Their dollars, self-payments included. */
  readonly usdMicros: bigint;
  readonly selfUsdMicros: bigint;
  /** The largest sum of one counterparty; like the next two without self-payments. */
  readonly largestUsdMicros: bigint;
  /** Sum over counterparties of the square of each one's dollars. */
  readonly squaredUsdMicros: bigint;
  /** Dollars of counterparties that the wallet also dealt with in the other direction. */
  readonly reciprocalUsdMicros: bigint;
  readonly rings: number;
}

export interface Signal {
  readonly id: SignalId;
  /** Null when the share has no base: no dollars, or only self-payments. */
  readonly value: number | null;
  readonly threshold: number;
  readonly triggered: boolean;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly signals: readonly Signal[];
}

interface Measured extends Signal {
  readonly kind: SignalKind;
  readonly scaled: bigint | null;
}

/** Measures every signal of the role and gives the verdict. Pure; amounts may be of any size. */
export function judge(facts: JudgedFacts): Judgement {
  const signals = SIGNALS_OF_ROLE[facts.role].map((id) => measure(id, facts));
  return {
    verdict: verdictOf(facts, signals),
    signals: signals.map(({ id, value, threshold, triggered }) => ({ id, value, threshold, triggered })),
  };
}

function measure(id: SignalId, facts: JudgedFacts): Measured {
  const rule: SignalRule = SIGNALS[id];
  const scaled = scaledValue(id, facts);
  return {
    id,
    kind: rule.kind,
    scaled,
    value: scaled === null ? null : shown(scaled, rule.unit),
    threshold: shown(rule.threshold, rule.unit),
    triggered: scaled !== null && scaled >= rule.threshold,
  };
}

function shown(scaled: bigint, unit: SignalRule['unit']): number {
  return unit === 'share' ? Number(scaled) / Number(SHARE_SCALE) : Number(scaled);
}

function scaledValue(id: SignalId, facts: JudgedFacts): bigint | null {
  const organic = facts.usdMicros - facts.selfUsdMicros;
  switch (id) {
    case 'self_payment_share':
      return share(facts.selfUsdMicros, facts.usdMicros);
    case 'payer_concentration':
    case 'payee_concentration':
      return share(facts.squaredUsdMicros, organic * organic);
    case 'single_payer_dominance':
    case 'single_payee_dominance':
      return share(facts.largestUsdMicros, organic);
    case 'reciprocity':
      return share(facts.reciprocalUsdMicros, organic);
    case 'ring_membership':
      return BigInt(facts.rings);
  }
}

function share(part: bigint, whole: bigint): bigint | null {
  return whole === 0n ? null : (part * SHARE_SCALE) / whole;
}

function verdictOf(facts: JudgedFacts, signals: readonly Measured[]): Verdict {
  if (!facts.observed) return 'unobserved';
  if (facts.settlements < SAMPLE_MIN_SETTLEMENTS) return 'insufficient';
  const triggered = signals.filter((signal) => signal.triggered);
  if (triggered.length === 0) return 'clean';
  const mostlyRound = triggered.some(
    ({ id, scaled }) =>
      (id === 'self_payment_share' || id === 'reciprocity') &&
      scaled !== null &&
      scaled >= MOSTLY_ROUND_SHARE,
  );
  const bothKinds = new Set(triggered.map(({ kind }) => kind)).size === 2;
  return mostlyRound || bothKinds ? 'suspect' : 'mixed';
}

/** The rule in words, for answers. */
export const VERDICT_MEANING: Readonly<Record<Verdict, string>> = {
  unobserved: 'No settlement on the chains asked for has this wallet in this role.',
  insufficient: `Fewer than ${SAMPLE_MIN_SETTLEMENTS} settlements of ${DUST_BELOW} or more in this role were scanned: too few to judge.`,
  clean: 'No signal reached its threshold.',
  mixed: 'Signals of one kind reached their threshold: either money that comes back, or few counterparties.',
  suspect:
    'Most of the money comes back (self-payments or reciprocity at half or more), or money comes back and few counterparties stand behind the figures.',
};
