import { type Static, Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/account.ts';
import {
  PRIOR_CLIENTS,
  PRIOR_MEAN,
  RATING_MAX,
  RATING_TAGS,
  TAG_SCORES_MAX,
} from '../../../core/domain/agent.ts';
import { DUST_BELOW } from '../../../core/domain/data-quality.ts';
import { displayText } from '../../../core/domain/display-text.ts';
import type { Directory } from '../names.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  timeTextOrNull,
} from '../shapes.ts';
import type { AgentRow, TagScore } from './row.ts';

/** What clients said of an agent under one tag. */

const TAG_MAX_CHARS = 256;

export const TagScoreShape = Type.Object(
  {
    tag: orNull(Type.String(), {
      description: 'tag1 as it was logged, made safe to show; null for feedback without one.',
    }),
    mean: Type.Number({
      description:
        'Mean of the clients’ means, on the scale of the tag: milliseconds, percent, whatever it is.',
    }),
    is_rating: Type.Boolean({
      description: 'Whether the tag is read as a rating from 0 to 100; only these make `score`.',
    }),
    feedback_count: CountShape,
    distinct_clients: CountShape,
  },
  { title: 'TagScore' },
);

export function tagScoreAnswer(score: TagScore): Static<typeof TagScoreShape> {
  const tag = displayText(score.tag, TAG_MAX_CHARS);
  return {
    tag: tag === '' ? null : tag,
    mean: Number(score.mean),
    is_rating: score.isRating,
    feedback_count: score.feedbackCount,
    distinct_clients: score.distinctClients,
  };
}

export const TAG_SCORE_EXAMPLES: Static<typeof TagScoreShape>[] = [
  { tag: 'starred', mean: 94.1, is_rating: true, feedback_count: 180, distinct_clients: 120 },
  { tag: 'responseTime', mean: 412.5, is_rating: false, feedback_count: 34, distinct_clients: 21 },
];

/** An ERC-8004 agent as /agents, /leaderboard and the profiles show it. Source: ERC-8004. */

const NullableText = orNull(Type.String());
const NullableTime = orNull(TimeShape);

export const AgentIdShape = Type.String({
  pattern: '^[0-9]+$',
  description: 'Token id in the identity registry of the chain; a decimal string, ids start at 0.',
});

const ServiceShape = Type.Object(
  {
    name: Type.String({ description: 'web, A2A, MCP, OASF, …, as the card spells it.' }),
    endpoint: Type.String(),
    version: Type.String(),
    skills: Type.Array(Type.String()),
    domains: Type.Array(Type.String()),
  },
  { title: 'AgentService' },
);

const DATA_URI_MAX_CHARS = 256;
const DATA_URI = /^data:/i;
/** Controls, bidirectional controls, zero-width and unassigned characters: no URI has them as they are. */
const INVISIBLE = /(?!\p{Cs})[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const ACTIVITY_STATUSES = ['active', 'idle', 'unseen'] as const;
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];
/** A wallet that settled within this many days is active. */
export const ACTIVE_DAYS = 30;

const CARD_STATUSES = ['none', 'good', 'failed'] as const;
const DOMAIN_PROOFS = ['unchecked', 'proven', 'refuted', 'unreachable'] as const;

export const ScoreShape = orNull(
  Type.Number({
    description: `Ratings from 0 to 100 that were not revoked, each client once by the mean of its ratings, as if ${PRIOR_CLIENTS} clients more had given ${PRIOR_MEAN}; null without a rating. Ratings are feedback without a tag1 or with one of ${RATING_TAGS.filter(Boolean).join(', ')}, and a value from 0 to ${RATING_MAX}. Feedback under other tags is on other scales: see tag_scores.`,
  }),
);

export const AgentShape = Type.Object(
  {
    chain: ChainShape,
    agent_id: AgentIdShape,
    owner: AddressShape,
    wallet: orNull(AddressShape, {
      description: 'Address that it pays and is paid with; null when it was cleared.',
    }),
    name: orNull(Type.String(), {
      description:
        'As the card claims, made safe to show; null without a card. Not its name where `name_imitates` says whose it looks like, or where `domain_proof` is refuted: settlements then do not show it.',
    }),
    name_imitates: orNull(Type.String(), {
      description:
        'Id of the named facilitator whose name this one equals or resembles, although the wallet is not one of its relayers; null otherwise.',
    }),
    description: NullableText,
    image: orNull(Type.String(), {
      description: 'https or ipfs URL. An image that the card itself holds (data:) is not carried.',
    }),
    agent_uri: orNull(Type.String(), {
      description: `Where the card is. A data: URI is the card itself: of one longer than ${DATA_URI_MAX_CHARS} characters the start is shown, and …; SQL has all of it. Invisible characters are percent-encoded.`,
    }),
    services: Type.Array(ServiceShape),
    capabilities: Type.Array(Type.String(), { description: 'Slugs of /capabilities, by a published rule.' }),
    supported_trust: Type.Array(Type.String()),
    x402_support: Type.Boolean({ description: 'Whether the card declares x402.' }),
    active: orNull(
      Type.Boolean({
        description: 'Whether the card says that the agent is in service; null without a card.',
      }),
    ),
    score: ScoreShape,
    rating_mean: orNull(
      Type.Number({
        description: 'Mean of the clients’ mean ratings, which `score` is drawn to the middle from.',
      }),
    ),
    rating_count: { ...CountShape, description: 'Ratings that `score` is of.' },
    rating_clients: { ...CountShape, description: 'Different addresses that gave these ratings.' },
    paid_score: orNull(
      Type.Number({
        description: `\`score\` of the ratings whose file proves a payment: a settlement of this index of ${DUST_BELOW} or more from the client to a present or past owner or wallet of the agent. Looked up again at least hourly; null without any.`,
      }),
    ),
    paid_rating_count: { ...CountShape, description: 'Ratings that `paid_score` is of.' },
    paid_rating_clients: { ...CountShape, description: 'Different addresses that gave these.' },
    tag_scores: Type.Array(TagScoreShape, {
      maxItems: TAG_SCORES_MAX,
      description: `By tag1, each on its own scale, those that most clients gave first; at most ${TAG_SCORES_MAX}.`,
    }),
    feedback_count: { ...CountShape, description: 'Feedback of any tag that was not revoked.' },
    distinct_clients: { ...CountShape, description: 'Different addresses that gave it.' },
    registered_at: TimeShape,
    last_activity_at: {
      ...TimeShape,
      description:
        'Newest of its registration, its changes, feedback about it and settlements of its wallet on any indexed chain; a settlement that a reorg took back counts too.',
    },
    activity_status: oneOf(ACTIVITY_STATUSES, {
      description: `active: its wallet settled within ${ACTIVE_DAYS} days. idle: it settled before. unseen: it never did.`,
    }),
    card: Type.Object(
      {
        status: oneOf(CARD_STATUSES),
        problem: orNull(Type.String(), {
          description: 'Why the newest try gave no card; the last good one is shown meanwhile.',
        }),
        fetched_at: NullableTime,
      },
      { title: 'AgentCard' },
    ),
    domain: orNull(Type.String(), {
      description: 'Domain that the card claims, to be believed when `domain_proof` is proven.',
    }),
    domain_proof: oneOf(DOMAIN_PROOFS, {
      description: 'Whether the domain itself names the agent in /.well-known/agent-registration.json.',
    }),
  },
  { title: 'Agent' },
);

export type AgentAnswer = Static<typeof AgentShape>;

/** What an answer about agents adds to their rows. */
interface AgentFacts {
  /** Unix seconds by wallet; one that never settled is missing. */
  readonly lastSettled: ReadonlyMap<Address, number>;
  readonly nowMs: number;
  readonly directory: NameJudge;
}
type NameJudge = Pick<Directory, 'imitatedFacilitator'>;

/** The agents of a page. */
export function agentAnswers(
  rows: readonly AgentRow[],
  { lastSettled, nowMs, directory }: AgentFacts,
): AgentAnswer[] {
  const nowSeconds = Math.floor(nowMs / 1_000);
  return rows.map((row) =>
    agentAnswer(row, {
      lastSettledAt: row.wallet === null ? null : (lastSettled.get(row.wallet) ?? null),
      nowSeconds,
      directory,
    }),
  );
}

/** `lastSettledAt`: of the agent's wallet, Unix seconds; null when it never settled. */
function agentAnswer(
  row: AgentRow,
  {
    lastSettledAt,
    nowSeconds,
    directory,
  }: { readonly lastSettledAt: number | null; readonly nowSeconds: number; readonly directory: NameJudge },
): AgentAnswer {
  const hasCard = row.card.fetchedAt !== null;
  return {
    chain: row.chain,
    agent_id: String(row.agentId),
    owner: row.owner,
    wallet: row.wallet,
    name: textOrNull(row.name),
    name_imitates: directory.imitatedFacilitator(row.name, row.wallet),
    description: textOrNull(row.description),
    image: DATA_URI.test(row.image) ? null : textOrNull(row.image),
    agent_uri: textOrNull(shownUri(row.agentUri)),
    services: row.services.map((service) => ({
      ...service,
      skills: [...service.skills],
      domains: [...service.domains],
    })),
    capabilities: [...row.capabilities],
    supported_trust: [...row.supportedTrust],
    x402_support: row.x402Support,
    active: hasCard ? row.active : null,
    score: numberOrNull(row.score),
    rating_mean: numberOrNull(row.ratingMean),
    rating_count: row.ratingCount,
    rating_clients: row.ratingClients,
    paid_score: numberOrNull(row.paidScore),
    paid_rating_count: row.paidCount,
    paid_rating_clients: row.paidClients,
    tag_scores: row.tagScores.map(tagScoreAnswer),
    feedback_count: row.feedbackCount,
    distinct_clients: row.distinctClients,
    registered_at: timeText(row.registeredAt),
    last_activity_at: timeText(
      Math.max(row.registeredAt, row.updatedAt, row.lastFeedbackAt ?? 0, lastSettledAt ?? 0),
    ),
    activity_status: activityOf(lastSettledAt, nowSeconds),
    card: {
      status: row.card.status,
      problem: textOrNull(row.card.problem),
      fetched_at: timeTextOrNull(row.card.fetchedAt),
    },
    domain: textOrNull(row.domain),
    domain_proof: row.domainProof,
  };
}

function numberOrNull(decimal: string | null): number | null {
  return decimal === null ? null : Number(decimal);
}

function activityOf(lastSettledAt: number | null, nowSeconds: number): ActivityStatus {
  if (lastSettledAt === null) return 'unseen';
  return nowSeconds - lastSettledAt <= ACTIVE_DAYS * 86_400 ? 'active' : 'idle';
}

/** As the owner wrote it, but for what could deceive a reader and for the bulk of a card. */
function shownUri(uri: string): string {
  const isLong = DATA_URI.test(uri) && uri.length > DATA_URI_MAX_CHARS;
  const shown = isLong ? `${uri.slice(0, DATA_URI_MAX_CHARS)}…` : uri;
  return shown.replace(INVISIBLE, encodeURIComponent);
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

export const AGENT_EXAMPLE: AgentAnswer = {
  chain: 'eip155:8453',
  agent_id: '2290',
  owner: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  wallet: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  name: 'Weather by the call',
  name_imitates: null,
  description: 'Forecasts and observations for any place, paid per call.',
  image: 'https://weather.example/logo.png',
  agent_uri: 'https://weather.example/agent-card.json',
  services: [
    { name: 'MCP', endpoint: 'https://weather.example/mcp', version: '2025-06-18', skills: [], domains: [] },
  ],
  capabilities: ['weather'],
  supported_trust: ['reputation'],
  x402_support: true,
  active: true,
  score: 92.34,
  rating_mean: 94.1,
  rating_count: 180,
  rating_clients: 120,
  paid_score: 88.2,
  paid_rating_count: 61,
  paid_rating_clients: 44,
  tag_scores: TAG_SCORE_EXAMPLES,
  feedback_count: 214,
  distinct_clients: 131,
  registered_at: '2026-02-03T10:20:31Z',
  last_activity_at: '2026-11-20T09:15:01Z',
  activity_status: 'active',
  card: { status: 'good', problem: null, fetched_at: '2026-11-20T03:12:40Z' },
  domain: 'weather.example',
  domain_proof: 'proven',
};
