import type { Address } from '../../core/domain/account.ts';
import { callGiveFeedback, toReputation } from '../chain/registries.ts';
import type { Transaction } from '../chain/sender.ts';
import type { Random } from '../random.ts';
import type { CardHost } from './card-host.ts';
import { FILE_KINDS, type FileKind, type Payment, publishFeedbackFile } from './feedback-files.ts';
import type { RegisteredAgent } from './registry-cast.ts';

/** Feedback of clients, with a file of any kind or none. */

export interface Rating {
  readonly agent: RegisteredAgent;
  readonly client: Address;
  readonly transaction: Transaction;
}

export interface RatingSource {
  readonly host: CardHost;
  readonly random: Random;
}

const FILE_SHARE = 0.7;
const TRUE_SHARE = 0.6;

/** What clients measure: the tag, the decimals of its values, and their range. Stars are what most of them give. */
const STARS = { tag: 'starred', decimals: 0, least: 20, most: 100 } as const;
const MEASURES = [
  ...Array<typeof STARS>(6).fill(STARS),
  { tag: 'uptime', decimals: 2, least: 9_000, most: 10_000 },
  { tag: 'successRate', decimals: 1, least: 500, most: 1_000 },
  { tag: 'responseTime', decimals: 0, least: 80, most: 900 },
  { tag: 'tradingYield', decimals: 2, least: -400, most: 900 },
  { tag: '', decimals: 18, least: 1, most: 5 },
] as const;

/** `payment`: the client's payment for the agent's work, if there is one. */
export function rate(
  agent: RegisteredAgent,
  by: { readonly client: Address; readonly payment: Payment | null },
  { host, random }: RatingSource,
): Rating {
  const { tag, decimals, least, most } = random.pick(MEASURES);
  const value = BigInt(least + random.below(most - least + 1)) * (decimals === 18 ? 10n ** 18n : 1n);
  const endpoint = random.chance(0.5) ? `https://${agent.label}.example/api` : '';
  const said = { agentId: agent.agentId, value, valueDecimals: decimals, tag1: tag, endpoint };
  const { client } = by;
  const file = random.chance(FILE_SHARE)
    ? publishFeedbackFile(host, { ...said, client, payment: by.payment }, fileKind(random))
    : {};
  return {
    agent,
    client,
    transaction: toReputation(client, callGiveFeedback({ ...said, tag2: 'demo', ...file })),
  };
}

const fileKind = (random: Random): FileKind => (random.chance(TRUE_SHARE) ? 'true' : random.pick(FILE_KINDS));
