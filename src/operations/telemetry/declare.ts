import { type Static, Type } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import { OPEN_TO, type OpenTo } from '../../../sandbox/sandbox.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import {
  backfillLeft,
  CHAIN_STATE_MEANS,
  type ChainStatus,
  isImported,
} from '../index-state/chain-status.ts';
import { chainFreshness, INDEX_LAG_WARNING_SECONDS, warningsOf } from '../index-state/freshness.ts';
import { ENGINE_STATUSES, type IndexStates } from '../index-state/index-state.ts';
import type { RollupState } from '../index-state/rollups.ts';
import { ChainFreshnessShape, chainFreshnessAnswer, WarningsShape } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { CountShape, keyOf, nowText, oneOf, orNull, TimeShape, timeTextOrNull } from '../shapes.ts';
import { IDENTITIES_EXAMPLE, IdentitiesShape, identitiesAnswer } from './identities.ts';

/** Health of the index, not totals. */

const NullableTime = orNull(Type.String({ format: 'date-time' }));
const NullableInteger = orNull(Type.Integer({ minimum: 0 }));

const BackfillShape = Type.Object(
  {
    blocks_done: CountShape,
    blocks_total: CountShape,
    percent: orNull(
      Type.Number({ minimum: 0, maximum: 100, description: 'Null when there is nothing to backfill.' }),
    ),
    eta_seconds: orNull(
      Type.Integer({ minimum: 0, description: 'At the present rate; null while there is none.' }),
    ),
    source: orNull(
      Type.String({
        description:
          'Where the newest of these blocks came from: `portal` (a stream of the SQD Portal) or `rpc`; null while there are none.',
      }),
    ),
  },
  { title: 'Backfill' },
);

const FeesShape = Type.Object(
  {
    open_hours: Type.Integer({
      minimum: 0,
      description:
        'Hours that may have transactions whose gas and fee are not read yet; the present hour always is one.',
    }),
    oldest_open_at: NullableTime,
  },
  { title: 'FeeTelemetry' },
);

const ChainShape = Type.Object(
  {
    ...ChainFreshnessShape.properties,
    state: Type.String({
      description: `${Object.entries(CHAIN_STATE_MEANS)
        .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
        .join('; ')}.`,
    }),
    name: Type.String({ description: 'How the chain is commonly called.' }),
    explorer_url: orNull(
      Type.String({
        description:
          'A block explorer: `/tx/{hash}`, `/address/{address}` and `/block/{number}` below it show what is on the chain; null where none does.',
      }),
    ),
    sample_data_to: orNull(
      Type.Integer({
        minimum: 0,
        description:
          'Rows up to this block are sample data, made for a demonstration, and not payments of the chain; null: every row is of the chain.',
      }),
    ),
    provider: Type.String({ description: 'Whether the chain’s RPC provider answers, in words.' }),
    backfill: BackfillShape,
    rows_per_second: Type.Number({ minimum: 0 }),
    blocks_per_second: Type.Number({ minimum: 0 }),
    rows_written: CountShape,
    reorgs: CountShape,
    deepest_reorg: CountShape,
    retries: CountShape,
    contradictions: Type.Integer({
      minimum: 0,
      description: 'Answers of a provider that contradicted the chain.',
    }),
    dead_letters: Type.Integer({
      minimum: 0,
      description:
        'Logs that could not become a row, since the chain was first indexed; those that became one later count too.',
    }),
    fees: orNull(FeesShape, {
      description: 'How far reading gas and fees from receipts is; null where none are read.',
    }),
    last_error: orNull(Type.String({ description: 'Short code.' })),
    last_written_at: NullableTime,
    reported_at: NullableTime,
  },
  { title: 'ChainTelemetry' },
);

const RollupsShape = Type.Object(
  {
    open_slices: Type.Integer({
      minimum: 0,
      description:
        'Days, or hours of busy days, that are still read from their rows; the present day always is.',
    }),
    oldest_open_at: NullableTime,
    last_closed_at: NullableTime,
  },
  { title: 'RollupTelemetry' },
);

const NAMED_STATUSES = Object.entries(ENGINE_STATUSES).map(([name, meaning]) => `${name}: ${meaning}`);

const EngineShape = Type.Object(
  {
    status: keyOf(ENGINE_STATUSES, { description: `${NAMED_STATUSES.join('; ')}.` }),
    uptime_seconds: NullableInteger,
    answered_at: orNull(
      Type.String({
        format: 'date-time',
        description:
          'Time of its last answer; the figures of the index here are no newer. Null before the first time.',
      }),
    ),
  },
  { title: 'EngineHealth' },
);

/** What each means for a caller. */
const OPEN_TO_MEANS: Readonly<Record<OpenTo, string>> = {
  everyone: 'every caller whom the price list admits',
  organizations:
    'callers with the key of an organization; others are refused, with 429 after queries that could not be stopped',
  no_caller:
    'none, after queries that could not be stopped again and again: all are refused with 429 until the operator has looked',
};

const SqlShape = Type.Object(
  {
    open_to: oneOf(OPEN_TO, {
      description: `Whose SQL the service runs now. ${OPEN_TO.map((name) => `${name}: ${OPEN_TO_MEANS[name]}`).join('; ')}. Every other route is open as usual.`,
    }),
  },
  { title: 'SqlTelemetry' },
);

const STATUSES = ['ok', 'degraded'] as const;

export interface TelemetryDeps extends OperationDeps {
  readonly indexStates: IndexStates;
}

export const getTelemetry = defineOperation({
  id: 'getTelemetry',
  wire: {
    path: '/telemetry',
    params: {},
    output: Type.Object({
      status: oneOf(STATUSES),
      version: Type.String(),
      uptime_seconds: CountShape,
      engine: EngineShape,
      sql: SqlShape,
      chains: Type.Array(ChainShape, {
        description: 'Every chain that is served; empty until the engine has answered once.',
      }),
      rollups: orNull(RollupsShape),
      identities: orNull(IdentitiesShape),
      warnings: WarningsShape,
      as_of: TimeShape,
    }),
    fails: [],
  },
  words: {
    summary: 'Health of the index: freshness, ingest rate and faults per chain',
    description: `Per chain: how far the index is, what ingest is doing and what went wrong; which period the rollups do not cover yet; the progress of agents, their cards and feedback files; and who is running SQL now. While the engine does not answer, \`engine.status\` says so, and the other figures are the last known ones. \`status\` is degraded while it does not answer, and while a chain has not started, does not answer, has stopped, or is more than ${INDEX_LAG_WARNING_SECONDS} seconds behind.`,
    tool: 'How fresh and complete the index is, chain by chain, and what is wrong. Call it when a list is empty or a figure looks old.',
    example: {
      status: 'ok',
      version: '0.1.0',
      uptime_seconds: 86_400,
      engine: { status: 'ok', uptime_seconds: 86_399, answered_at: '2026-11-20T09:15:04Z' },
      sql: { open_to: 'everyone' },
      chains: [
        {
          chain: 'eip155:8453',
          indexed_block: 38_412_078,
          indexed_at: '2026-11-20T09:15:03Z',
          head_block: 38_412_078,
          finalized_block: 38_411_402,
          lag_seconds: 1,
          state: 'following',
          name: 'Base',
          explorer_url: 'https://basescan.org',
          sample_data_to: null,
          provider: 'answers',
          backfill: {
            blocks_done: 43_200,
            blocks_total: 43_200,
            percent: 100,
            eta_seconds: 0,
            source: 'portal',
          },
          rows_per_second: 11.4,
          blocks_per_second: 0.5,
          rows_written: 512_345,
          reorgs: 1,
          deepest_reorg: 1,
          retries: 7,
          contradictions: 0,
          dead_letters: 0,
          fees: { open_hours: 1, oldest_open_at: '2026-11-20T09:00:00Z' },
          last_error: null,
          last_written_at: '2026-11-20T09:15:03Z',
          reported_at: '2026-11-20T09:15:04Z',
        },
      ],
      rollups: {
        open_slices: 1,
        oldest_open_at: '2026-11-20T00:00:00Z',
        last_closed_at: '2026-11-20T00:15:04Z',
      },
      identities: IDENTITIES_EXAMPLE,
      warnings: [],
      as_of: '2026-11-20T09:15:04Z',
    },
  },
  money: { price: PRICES.free },
  run: async (
    _input,
    {
      reader,
      clock,
      sql,
      deployment: { chains, chainFacts, sampleDataTo, version, startedAtMs },
      indexStates,
    }: TelemetryDeps,
  ) => {
    const { engine, statuses, rollups, identities, sources } = await indexStates.read(reader);
    const nowMs = clock.nowMs();
    const answers =
      statuses === null
        ? []
        : chains.map((chain) => ({
            ...chainAnswer(chain, statuses.get(chain), nowMs),
            name: chainFacts.get(chain)?.name ?? chain,
            explorer_url: chainFacts.get(chain)?.explorerUrl ?? null,
            sample_data_to: sampleDataTo.get(chain) ?? null,
          }));
    return {
      status: engine.status === 'ok' && answers.every(isHealthy) ? STATUSES[0] : STATUSES[1],
      version,
      uptime_seconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1_000)),
      engine: {
        status: engine.status,
        uptime_seconds: engine.uptimeSeconds,
        answered_at: engine.answeredAtMs === null ? null : nowText(engine.answeredAtMs),
      },
      sql: { open_to: sql.openNow() },
      chains: answers,
      rollups: rollups === null ? null : rollupsAnswer(rollups),
      identities:
        identities === null || sources === null
          ? null
          : identitiesAnswer(identities, sources, { chains, nowMs }),
      warnings: statuses === null ? [] : warningsOf(chains, statuses, nowMs),
      as_of: nowText(nowMs),
    };
  },
});

function rollupsAnswer({ openSlices, oldestOpen, lastClosedAt }: RollupState): Static<typeof RollupsShape> {
  return {
    open_slices: openSlices,
    oldest_open_at: timeTextOrNull(oldestOpen),
    last_closed_at: timeTextOrNull(lastClosedAt),
  };
}

type ChainAnswer = Omit<Static<typeof ChainShape>, 'name' | 'explorer_url' | 'sample_data_to'>;

function chainAnswer(chain: Chain, status: ChainStatus | undefined, nowMs: number): ChainAnswer {
  return {
    ...chainFreshnessAnswer(chainFreshness(chain, status, nowMs)),
    state: status?.state ?? 'not_started',
    provider: providerWords(status),
    backfill: backfillAnswer(status),
    ...rateAnswer(status),
    fees: feesAnswer(status),
    last_error: status === undefined || status.lastError === '' ? null : status.lastError,
    last_written_at: timeTextOrNull(status?.lastWrittenAt ?? null),
    reported_at: timeTextOrNull(status?.updatedAt ?? null),
  };
}

function feesAnswer(status: ChainStatus | undefined): Static<typeof FeesShape> | null {
  if (status === undefined || status.feeHoursOpen === null) return null;
  return { open_hours: status.feeHoursOpen, oldest_open_at: timeTextOrNull(status.feeOldestOpen) };
}

function rateAnswer(status: ChainStatus | undefined) {
  return {
    rows_per_second: toTenths(status?.rowsPerSecond ?? 0),
    blocks_per_second: toTenths(status?.blocksPerSecond ?? 0),
    rows_written: status?.rowsWritten ?? 0,
    reorgs: status?.reorgs ?? 0,
    deepest_reorg: status?.deepestReorg ?? 0,
    retries: status?.retries ?? 0,
    contradictions: status?.contradictions ?? 0,
    dead_letters: status?.deadLetters ?? 0,
  };
}

/** A moving rate has no more precision. */
function toTenths(rate: number): number {
  return Math.round(rate * 10) / 10;
}

function providerWords(status: ChainStatus | undefined): string {
  if (status === undefined) return 'not asked yet';
  if (isImported(status)) return 'none is configured: rows are imported';
  if (status.state === 'unreachable') return 'does not answer; ingest keeps trying';
  if (status.state === 'contradicting')
    return 'answers, but its answers contradict the chain or each other; ingest keeps trying';
  if (status.state === 'stopped') return 'not asked: ingest has stopped';
  return status.headSeenAt === null ? 'has not answered yet; ingest keeps trying' : 'answers';
}

function backfillAnswer(status: ChainStatus | undefined): Static<typeof BackfillShape> {
  const done = status?.backfillBlocksDone ?? 0;
  const total = status?.backfillBlocksTotal ?? 0;
  return {
    blocks_done: done,
    blocks_total: total,
    percent: total === 0 ? null : Math.min(100, Math.floor((done / total) * 10_000) / 100),
    eta_seconds: status === undefined ? 0 : backfillLeft(status).etaSeconds,
    source: status?.backfillSource ?? null,
  };
}

const STUCK_STATES: ReadonlySet<string> = new Set(['contradicting', 'unreachable', 'stopped', 'not_started']);

function isHealthy({ state, lag_seconds }: ChainAnswer): boolean {
  if (state === 'imported') return true;
  return !STUCK_STATES.has(state) && lag_seconds !== null && lag_seconds <= INDEX_LAG_WARNING_SECONDS;
}
