import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../core/domain/evidence.ts';
import type { ServedRow } from './api-client.ts';
import type { Audits } from './audit.ts';
import type { AgentAudit } from './identities/audit-agents.ts';
import type { Purchases } from './live.ts';
import type { SolanaOutcome } from './solana/live.ts';

interface HistoryOutcome {
  readonly rows: number;
  readonly ms: number | null;
  readonly rowsPerSecondPeak: number;
}

export interface Outcome {
  /** Settlements asked for; null: as many as there are. */
  readonly wanted: number | null;
  /** Settlements that survive on the EVM chain. */
  readonly survived: number;
  readonly audits: Audits;
  readonly agents: AgentAudit;
  /** What went on on Solana. */
  readonly solana: SolanaOutcome;
  readonly firstServedMs: number;
  /** Rows of history and how long after its readiness the service had them; null when it never said that it was done. */
  readonly history: HistoryOutcome | null;
  /** From the mining of the EVM chain's last block to the API serving it. */
  readonly lagMs: number | null;
  readonly reorgs: { readonly made: number; readonly deepest: number; readonly seen: number };
  readonly purchases: Purchases;
}

/**
 * True when the API serves exactly what survives on the chains, settlements and agents, as much as was asked for, and sold what agents wanted to
 * buy for payments that it serves itself.
 */
export function isTrue(outcome: Outcome): boolean {
  const { audits, agents, survived, wanted, purchases, solana } = outcome;
  const asWanted = (wanted === null || survived === wanted) && audits.evm.served.length === survived;
  const whole = agents.lies === 0 && audits.evm.lies === 0 && audits.solana.lies === 0 && asWanted;
  const bought = purchases.failed.length === 0 && solana.failed.length === 0;
  return whole && bought && servedPurchases(outcome) === purchases.made.length;
}

/** Purchases whose settlement the index serves and calls proven. */
function servedPurchases({ audits, purchases }: Outcome): number {
  const proven = new Set(
    audits.evm.served.filter(({ evidence }) => evidence.tier === 'proven').map((row) => row.tx_hash),
  );
  return purchases.made.filter((transaction) => proven.has(transaction)).length;
}

/** The table and the figures that `--once` ends with. */
export function summarize(outcome: Outcome): string {
  const { audits, history, reorgs, purchases } = outcome;
  const facts: [string, string][] = [
    [
      'settlements',
      `${audits.evm.served.length} served, ${outcome.survived} on the chain${outcome.wanted === null ? '' : `, ${outcome.wanted} wanted`}`,
    ],
    ['first served', `${seconds(outcome.firstServedMs)} after the start`],
    ...(history === null ? [] : [['history', historyText(history)] satisfies [string, string]]),
    [
      'lag',
      outcome.lagMs === null
        ? 'the last block was not served'
        : `${Math.round(outcome.lagMs)} ms from block to answer`,
    ],
    ['reorgs', `${reorgs.made} made, ${reorgs.seen} seen by the index, deepest ${reorgs.deepest}`],
    [
      'x402 purchases',
      `${purchases.made.length} of our API and the shops, ${servedPurchases(outcome)} of them in the index as proven, ${purchases.failed.length} failed`,
    ],
    ['on Solana', solanaText(outcome)],
    ['agents', agentsText(outcome.agents)],
    ['lies', lies(audits)],
  ];
  const lines = facts.map(([name, value]) => `  ${name.padEnd(16)}${value}`);
  return [
    gradeTable(audits),
    '',
    ...lines,
    ...[...audits.evm.examples, ...audits.solana.examples, ...outcome.agents.examples].map(
      (text) => `    ${text}`,
    ),
  ].join('\n');
}

function historyText({ rows, ms, rowsPerSecondPeak }: HistoryOutcome): string {
  if (ms === null) return `${rows} rows, not finished in time`;
  const mean = Math.round(rows / (ms / 1_000));
  return `${rows} rows in ${seconds(ms)} from readiness: ${mean} rows/s (peak reported ${Math.round(rowsPerSecondPeak)})`;
}

function solanaText({ audits, solana: { owed, blocks, purchases, failed } }: Outcome): string {
  return `${audits.solana.served.length} payments served, ${owed.length} in ${blocks} blocks, ${purchases} x402 purchases among them, ${failed.length} failed`;
}

function agentsText({ registered, served, named, lies: wrong }: AgentAudit): string {
  const compared = wrong === 0 ? 'all as the registries say' : `${wrong} other than the registries say`;
  return `${served} served, ${registered} registered, ${compared}; ${named} with a card`;
}

function lies({ evm, solana }: Audits): string {
  const sum = (of: 'lies' | 'missing' | 'extra' | 'duplicate' | 'wrong'): number => evm[of] + solana[of];
  if (sum('lies') === 0)
    return '0 (every served row compared with the chain’s receipts, or with Solana’s balances)';
  return `${sum('lies')} (missing ${sum('missing')}, extra ${sum('extra')}, duplicate ${sum('duplicate')}, wrong ${sum('wrong')}; ${solana.lies} on Solana)`;
}

/** The rungs that rows stand on, with the share of each among the rows of its kind of chain. */
function gradeTable({ evm, solana }: Audits): string {
  const rows = [...evm.served, ...solana.served];
  const line = ([tier = '', method = '', ...figures]: readonly string[]): string =>
    `  ${tier.padEnd(10)} ${method.padEnd(22)} ${figures.map((figure, at) => figure.padStart(FIGURE_CHARS[at] ?? 0)).join(' ')}`;
  const lines = EVIDENCE_METHODS.flatMap((method) => {
    const of = (some: readonly ServedRow[]) => some.filter(({ evidence }) => evidence.method === method);
    const graded = of(rows);
    if (graded.length === 0) return [];
    const shares = [evm, solana].map(({ served }) => shareText(of(served).length, served.length));
    const { tier } = EVIDENCE_LADDER[method];
    return [line([tier, method, String(graded.length), ...shares, dollars(graded)])];
  });
  return [
    line(['tier', 'method', 'rows', 'EVM', 'Solana', 'USDC']),
    ...lines,
    line(['total', '', String(rows.length), '', '', dollars(rows.filter(({ kind }) => kind === 'payment'))]),
  ].join('\n');
}

/** Rows, shares of both kinds of chain, dollars. */
const FIGURE_CHARS = [8, 8, 8, 14] as const;

function shareText(part: number, whole: number): string {
  return whole === 0 ? '' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** Sums atomic amounts, not the rounded dollars of the answers. */
function dollars(rows: readonly ServedRow[]): string {
  const atoms = rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return `${atoms / 1_000_000n}.${(atoms % 1_000_000n).toString().padStart(6, '0')}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
