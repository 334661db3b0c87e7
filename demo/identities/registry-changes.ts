import type { Address } from '../../core/domain/address.ts';
import { DEMO_CHAIN_ID } from '../chain/anvil.ts';
import {
  callApproveAgent,
  callSetAgentUri,
  callSetAgentWallet,
  callSetMetadata,
  callTransferAgent,
  callUnsetAgentWallet,
  toIdentity,
} from '../chain/registries.ts';
import type { Transaction } from '../chain/sender.ts';
import { type Wallet, walletOf } from '../chain/wallets.ts';
import type { CardHost } from './card-host.ts';
import { asBase64, cardOf } from './cards.ts';
import type { RegisteredAgent, RegistryCast } from './registry-cast.ts';

export interface ChangeDependencies {
  readonly registry: RegistryCast;
  readonly host: CardHost;
  /** Unix seconds of the newest block. */
  readonly time: number;
}

/** Below the five minutes that a consent may lie ahead of its block. */
const CONSENT_SECONDS = 120;

/**
 * What some agents did after they had registered, by the variant of their card: new URIs for better and for worse, wallets set,
 * shared and cleared, agents sold, with and without a wallet of the new owner.
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
