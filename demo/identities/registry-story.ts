import { keccak256, stringToHex } from 'viem';
import type { Address } from '../../core/domain/account.ts';
import { DEMO_CHAIN_ID } from '../chain/anvil.ts';
import {
  callAppendResponse,
  callApproveAgent,
  callGiveFeedback,
  callRegister,
  callRegisterRaw,
  callRevokeFeedback,
  callSetAgentUri,
  callSetAgentWallet,
  callSetMetadata,
  callTransferAgent,
  callUnsetAgentWallet,
  callValidationRequest,
  callValidationResponse,
  type MetadataEntries,
  toIdentity,
  toReputation,
  toValidation,
} from '../chain/registries.ts';
import { type Transaction, type Wallet, walletOf } from '../chain/sender.ts';
import type { Random } from '../random.ts';
import type { CardHost } from './card-host.ts';
import { asBase64, cardOf } from './cards.ts';
import type { Payment } from './feedback-files.ts';
import { type Rating, type RatingSource, rate } from './ratings.ts';
import type { RegisteredAgent, RegistryCast } from './registry-cast.ts';

/** What happens in the registries during the demo's history, as the transactions of one block each, in this order. */
export interface RegistryStory {
  registrations(): Transaction[];
  /** `time`: Unix seconds of the newest block. */
  changes(time: number): Promise<Transaction[]>;
  /** Ratings by those who paid, some with files that point to what they paid. */
  ratings(paid: readonly Payment[]): Transaction[];
  /** Revocations, responses and validations, after `ratings`. */
  aftermath(): Transaction[];
}

export interface StoryDependencies extends RatingSource {
  readonly registry: RegistryCast;
}

const RATINGS_PER_SELLER = 7;
const RATED_OTHERS = 8;
const REVOKED_SHARE = 0.12;
const RESPONSE_SHARE = 0.2;
const VALIDATIONS = 8;
const ANSWERED_VALIDATIONS = 6;
const VALIDATION_MAX = 100;

export function createRegistryStory(dependencies: StoryDependencies): RegistryStory {
  const { registry, host, random } = dependencies;
  const given: (Rating & { readonly index: bigint })[] = [];
  return {
    registrations: () => [...registry.sellers, ...registry.others].map(register),
    changes: (time) => changesOf({ registry, host, time }),
    ratings(paid) {
      const ratings = [
        ...registry.sellers.flatMap((agent) => ratingsOfSeller(agent, paid, dependencies)),
        ...registry.others.slice(0, RATED_OTHERS).map((agent, k) => {
          const client = registry.sellers[k]?.owner ?? agent.owner;
          return rate(agent, { client: client.address, payment: null }, dependencies);
        }),
      ];
      given.push(...numbered(ratings));
      return [...ratings.map(({ transaction }) => transaction), ...inventedRatings(registry)];
    },
    aftermath: () => [
      ...given
        .filter(() => random.chance(REVOKED_SHARE))
        .map(({ agent, client, index }) => toReputation(client, callRevokeFeedback(agent.agentId, index))),
      ...given.filter(() => random.chance(RESPONSE_SHARE)).map(respond),
      ...registry.sellers.slice(0, VALIDATIONS).flatMap((agent, k) => validate(agent, k, random)),
    ],
  };
}

const SAID_ON_CHAIN: MetadataEntries = { framework: { text: 'demo' }, tier: '0x01' };

/** Every third agent says a little about itself on chain too. */
export function register({ owner, uri }: RegisteredAgent, position: number): Transaction {
  if (uri === null) return toIdentity(owner.address, callRegister());
  if (typeof uri === 'object') return toIdentity(owner.address, callRegisterRaw(uri.raw));
  const plain = position % 3 > 0;
  return toIdentity(owner.address, callRegister(plain ? { uri } : { uri, metadata: SAID_ON_CHAIN }));
}

function ratingsOfSeller(agent: RegisteredAgent, paid: readonly Payment[], source: RatingSource): Rating[] {
  const { random } = source;
  const own = paid.filter(({ payee, payer }) => payee === agent.owner.address && payer !== payee);
  const chosen = new Set<Payment>();
  for (let tries = 0; tries < RATINGS_PER_SELLER && own.length > 0; tries++) chosen.add(random.pick(own));
  return [...chosen].map((payment) => rate(agent, { client: payment.payer as Address, payment }, source)); // of a receipt
}

const INVENTED_RATERS = 40;

/** An agent whose owner rates it a hundred from many addresses of their own that never paid. */
function inventedRatings(registry: RegistryCast): Transaction[] {
  const { agentId } = overratedAgent(registry);
  return Array.from({ length: INVENTED_RATERS }, (_, k) =>
    toReputation(
      walletOf(`invented rater/${k}`).address,
      callGiveFeedback({
        agentId,
        value: 100n,
        valueDecimals: 0,
        tag1: 'starred',
        tag2: 'demo',
        endpoint: '',
      }),
    ),
  );
}

export function overratedAgent(registry: RegistryCast): RegisteredAgent {
  return agentOf(registry, 'impostor');
}

/** Indices are 1-based per agent and client, in the order of the block. */
function numbered(ratings: readonly Rating[]): (Rating & { readonly index: bigint })[] {
  const counts = new Map<string, bigint>();
  return ratings.map((rating) => {
    const key = `${rating.agent.agentId} ${rating.client}`;
    const index = (counts.get(key) ?? 0n) + 1n;
    counts.set(key, index);
    return { ...rating, index };
  });
}

function respond({ agent, client, index }: Rating & { readonly index: bigint }): Transaction {
  const { agentId, owner } = agent;
  const response = {
    agentId,
    client,
    feedbackIndex: index,
    uri: `https://${agent.label}.example/answers/${index}`,
  };
  return toReputation(owner.address, callAppendResponse(response));
}

const VALIDATORS: readonly Wallet[] = [walletOf('validator/one'), walletOf('validator/two')];

/** The last ones stay unanswered; the first validator changes its mind once. */
function validate({ agentId, owner, label }: RegisteredAgent, k: number, random: Random): Transaction[] {
  const validator = (VALIDATORS[k % VALIDATORS.length] ?? owner).address;
  const requestHash = keccak256(stringToHex(`validation of ${label}`));
  const uri = `https://${label}.example/work.json`;
  const request = toValidation(
    owner.address,
    callValidationRequest({ validator, agentId, uri, requestHash }),
  );
  const answer = (): Transaction => {
    const response = random.below(VALIDATION_MAX + 1);
    return toValidation(validator, callValidationResponse({ requestHash, response, tag: 'rerun' }));
  };
  if (k >= ANSWERED_VALIDATIONS) return [request];
  return k === 0 ? [request, answer(), answer()] : [request, answer()];
}

export interface ChangeDependencies {
  readonly registry: RegistryCast;
  readonly host: CardHost;
  /** Unix seconds of the newest block. */
  readonly time: number;
}

/** Below the five minutes that a consent may lie ahead of its block. */
const CONSENT_SECONDS = 120;

/**
 * The changes of some agents after their registration, by the variant of their card: new URIs to good and to bad cards, wallets
 * set, shared and cleared, agents sold, with and without a wallet of the new owner.
 */
export async function changesOf(dependencies: ChangeDependencies): Promise<Transaction[]> {
  const { registry, host } = dependencies;
  const find = (label: string): RegisteredAgent => agentOf(registry, label);
  const newCard = (label: string, name: string): Transaction => {
    const { agentId, owner } = find(label);
    const card = asBase64(JSON.stringify(cardOf({ host, agentId }, { name })));
    return toIdentity(owner.address, callSetAgentUri(agentId, card));
  };
  const sell = (label: string, to: Address): Transaction => {
    const { agentId, owner } = find(label);
    return toIdentity(owner.address, callTransferAgent({ agentId, from: owner.address, to }));
  };
  const { time } = dependencies;
  const wallet = async (label: string, next: Wallet, owner = find(label).owner): Promise<Transaction> =>
    toIdentity(owner.address, await consented(find(label).agentId, { next, owner: owner.address, time }));
  const [seller] = registry.sellers;
  const collector = find('webPage').owner;
  if (seller === undefined) throw new Error('no merchant registers');
  return [
    newCard('https', 'Renamed Agent'),
    newCard('noUri', 'Late Agent'),
    newCard('brokenJson', 'Mended Agent'),
    toIdentity(find('asText').owner.address, callSetAgentUri(find('asText').agentId, '')),
    await wallet('olderEndpoints', walletOf('second wallet of an agent')),
    // Two agents on one wallet: the one that is rated names it.
    await wallet('bareServices', seller.owner),
    toIdentity(
      find('lowerCaseSupport').owner.address,
      callUnsetAgentWallet(find('lowerCaseSupport').agentId),
    ),
    toIdentity(
      find('inactive').owner.address,
      callSetMetadata(find('inactive').agentId, 'status', { text: 'retired' }),
    ),
    sell('plain', collector.address),
    sell('ipfs', collector.address),
    await wallet('ipfs', collector, collector),
    sell('markup', find('markup').owner.address),
    toIdentity(
      seller.owner.address,
      callApproveAgent(walletOf('operator of an agent').address, seller.agentId),
    ),
  ];
}

function agentOf({ others }: RegistryCast, label: string): RegisteredAgent {
  const found = others.find((agent) => agent.label === label);
  if (found === undefined) throw new Error(`no agent of the demo has a card of the variant ${label}`);
  return found;
}

function consented(
  agentId: bigint,
  { next, owner, time }: { readonly next: Wallet; readonly owner: Address; readonly time: number },
): ReturnType<typeof callSetAgentWallet> {
  const deadline = time + CONSENT_SECONDS;
  return callSetAgentWallet({ agentId, wallet: next, owner, deadline, chainId: DEMO_CHAIN_ID });
}
