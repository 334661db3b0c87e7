import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { RELAYER_DECISIONS } from '../../clickhouse/tables/catalogues.ts';
import { decodeProposals, OPEN_PROPOSALS, type Proposal } from '../../clickhouse/tables/proposals.ts';
import { insertRows, reading, type TableRow } from '../../clickhouse/tables/table.ts';
import type { Config } from '../../core/config/config.ts';
import type { Address } from '../../core/domain/account.ts';
import { addressKey, type Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';

/**
 * What was decided on proposed relayers, in table `relayer_decisions`: refusals of operators, and what the service accepted above the
 * configured score. A refusal of an operator ends an acceptance, too.
 */
export type RelayerDecision = Omit<TableRow<typeof RELAYER_DECISIONS>, 'ver' | 'del'>;

/** A proposed relayer that the service accepted by itself. */
export interface AcceptedRelayer {
  readonly chain: Chain;
  readonly address: Address;
  /** Day (UTC, `YYYY-MM-DD`) of its first payment. */
  readonly firstSeen: string;
}

const MAX_SECONDS = 30;
const DECISIONS_MAX = 100_000;
const DECISION = reading(RELAYER_DECISIONS, [
  'chain',
  'address',
  'decision',
  'score',
  'first_seen',
  'decided_at',
]);

async function loadDecisions(writer: Writer): Promise<readonly RelayerDecision[]> {
  const { rows } = await writer.rows({
    name: 'relayer-decisions',
    maxSeconds: MAX_SECONDS,
    maxRows: DECISIONS_MAX,
    sql: sql`SELECT ${DECISION.columns} FROM relayer_decisions FINAL WHERE del = 0 ORDER BY chain, address`,
  });
  return rows.map(DECISION.read);
}

/** The newest of a relayer holds. */
export function saveDecisions(writer: Writer, rows: readonly RelayerDecision[], ver: bigint): Promise<void> {
  const fixed = { ver, del: 0 } as const;
  return insertRows(writer, { name: 'save-relayer-decisions', table: RELAYER_DECISIONS, rows, fixed });
}

export async function readProposals(writer: Writer): Promise<readonly Proposal[]> {
  return decodeProposals((await writer.rows(OPEN_PROPOSALS)).rows);
}

type Acceptance = Pick<Config['catalogue'], 'acceptProposalsAbove'>;

/** What the service accepted, as far as it would accept it by the score of today's configuration. */
export async function loadAccepted(
  writer: Writer,
  acceptance: Acceptance,
): Promise<readonly AcceptedRelayer[]> {
  if (acceptance.acceptProposalsAbove === null) return [];
  return acceptedOf(await loadDecisions(writer), acceptance);
}

function acceptedOf(
  decisions: readonly RelayerDecision[],
  { acceptProposalsAbove: above }: Acceptance,
): readonly AcceptedRelayer[] {
  if (above === null) return [];
  return decisions
    .filter(({ decision, score }) => decision === 'accepted' && score > above)
    .map(({ chain, address, firstSeen }) => ({ chain, address, firstSeen }));
}

/** Accepts proposals by their score, and follows what operators refuse. */
export interface ProposalWatch {
  /** Those that count now. */
  accepted(): readonly AcceptedRelayer[];
  /** Until the signal aborts, with its reason. */
  watch(): Promise<never>;
}

/** A pass that proposes takes a minute or more; a refusal should be felt soon. */
const LOOK_EVERY_MS = 5_000;

interface ProposalWatchDeps {
  readonly config: { readonly catalogue: Acceptance };
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly lookEveryMs?: number;
}

export async function createProposalWatch(deps: ProposalWatchDeps): Promise<ProposalWatch> {
  const { config, writer, versions, log, signal, lookEveryMs = LOOK_EVERY_MS } = deps;
  const above = config.catalogue.acceptProposalsAbove;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  let accepted = await acknowledged(() => loadAccepted(writer, config.catalogue));

  const look = async (threshold: number): Promise<void> => {
    const decisions = await acknowledged(() => loadDecisions(writer));
    const decided = new Set(
      decisions.filter(({ decision, score }) => decision === 'refused' || score > threshold).map(addressKey),
    );
    const fresh = (await acknowledged(() => readProposals(writer)))
      .filter((proposal) => proposal.score > threshold && !decided.has(addressKey(proposal)))
      .map(acceptance);
    if (fresh.length > 0) {
      // Stored before use: after a restart the same relayers count from the same days.
      const ver = versions.next();
      await acknowledged(() => saveDecisions(writer, fresh, ver));
      for (const { chain, address, score } of fresh)
        log.info({ chain, address, score }, 'a proposed relayer was accepted: it counts as a facilitator');
    }
    accepted = acceptedOf([...decisions.filter((old) => !isAmong(fresh, old)), ...fresh], config.catalogue);
  };
  return {
    accepted: () => accepted,
    async watch() {
      for (;;) {
        if (above !== null) await look(above);
        await delay(lookEveryMs, undefined, { signal });
      }
    },
  };
}

function acceptance({ chain, address, score, firstSeen }: Proposal): RelayerDecision {
  const [decidedAt, day] = [Math.floor(Date.now() / 1_000), dayOf(firstSeen)];
  return { chain, address, decision: 'accepted', score, firstSeen: day, decidedAt };
}

function isAmong(decisions: readonly RelayerDecision[], one: RelayerDecision): boolean {
  return decisions.some((other) => addressKey(other) === addressKey(one));
}

/** Day (UTC, `YYYY-MM-DD`) of a moment in Unix seconds. */
export function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}
