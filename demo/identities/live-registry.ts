import type { Actor } from '../actors.ts';
import {
  callRevokeFeedback,
  callSetAgentUri,
  callTransferAgent,
  toIdentity,
  toReputation,
} from '../chain/registries.ts';
import type { Transaction } from '../chain/sender.ts';
import type { Random } from '../random.ts';
import type { CardHost } from './card-host.ts';
import { asBase64, cardOf, onWeb } from './cards.ts';
import type { Payment } from './feedback-files.ts';
import { rate } from './ratings.ts';
import type { RegisteredAgent, RegistryCast } from './registry-cast.ts';
import { register } from './registry-story.ts';

/** The registry transactions at the tip: one now and then. */
export interface LiveRegistry {
  /** `paid`: the payments so far, newest last. */
  next(paid: readonly Payment[]): Transaction;
}

export interface LiveRegistryDependencies {
  readonly registry: RegistryCast;
  /** Who registers further agents. */
  readonly owners: readonly Actor[];
  readonly host: CardHost;
  readonly random: Random;
}

/** Only payments of late are rated. */
const RECENT_PAYMENTS = 200;
const KINDS = ['register', 'rate', 'rate', 'rate', 'revoke', 'rename', 'spoil', 'sell'] as const;

/** A reorg may drop what this planned, or give a new agent another id: then a card claims an id that is not its agent's. */
export function createLiveRegistry(dependencies: LiveRegistryDependencies): LiveRegistry {
  const { registry, random } = dependencies;
  let nextId = BigInt(registry.sellers.length + registry.others.length);
  const acts: Record<(typeof KINDS)[number], (paid: readonly Payment[]) => Transaction> = {
    register() {
      const agentId = nextId;
      nextId += 1n;
      return registerAnother(agentId, dependencies);
    },
    rate: (paid) => rateOneOf(paid.slice(-RECENT_PAYMENTS), dependencies),
    // Revokes an owner's first feedback; the contract refuses when there is none, or when it was revoked before.
    revoke() {
      const client = random.pick(dependencies.owners).address;
      return toReputation(client, callRevokeFeedback(random.pick(registry.sellers).agentId, 1n));
    },
    rename: () => changeUri(random.pick(registry.others), 'good', dependencies),
    // Refused for an agent that was sold before.
    sell: () => sell(random.pick(registry.others), dependencies),
    spoil: () => changeUri(random.pick(registry.others), 'broken', dependencies),
  };
  return { next: (paid) => acts[random.pick(KINDS)](paid) };
}

function registerAnother(agentId: bigint, { owners, host, random }: LiveRegistryDependencies): Transaction {
  const place = { host, agentId };
  const name = `Newcomer ${agentId}`;
  const file = JSON.stringify(cardOf(place, { name, description: 'Came while you were watching.' }));
  const owner = random.pick(owners);
  return register({ label: name, agentId, owner, uri: onWeb(place, file) }, 1);
}

function rateOneOf(
  paid: readonly Payment[],
  { registry, owners, ...source }: LiveRegistryDependencies,
): Transaction {
  const agent = source.random.pick(registry.sellers);
  const payers = new Map<string, Actor>(owners.map((owner) => [owner.address, owner]));
  const payment =
    paid.findLast(({ payee, payer }) => payee === agent.owner.address && payers.has(payer)) ?? null;
  const client = payers.get(payment?.payer ?? '') ?? source.random.pick(owners);
  return rate(agent, { client: client.address, payment }, source).transaction;
}

function changeUri(
  { agentId, owner }: RegisteredAgent,
  to: 'good' | 'broken',
  { host, random }: LiveRegistryDependencies,
): Transaction {
  const name = `Agent ${agentId}, edition ${1 + random.below(100)}`;
  const card = asBase64(JSON.stringify(cardOf({ host, agentId }, { name })));
  return toIdentity(
    owner.address,
    callSetAgentUri(agentId, to === 'good' ? card : 'data:application/json,{"na'),
  );
}

function sell(
  { agentId, owner }: RegisteredAgent,
  { owners, random }: LiveRegistryDependencies,
): Transaction {
  const move = { agentId, from: owner.address, to: random.pick(owners).address };
  return toIdentity(owner.address, callTransferAgent(move));
}
