import type { Hex } from 'viem';
import type { Actor, Cast } from '../actors.ts';
import { type CardHost, json } from './card-host.ts';
import { CARD_VARIANTS } from './card-variants.ts';
import {
  asBase64,
  asPlainData,
  type CardPlace,
  merchantCard,
  onIpfs,
  onWeb,
  PROOF_PATH,
  REGISTRY,
} from './cards.ts';

/** An agent of the demo at its registration. */
export interface RegisteredAgent {
  /** Its merchant's name, or its card's variant. */
  readonly label: string;
  readonly agentId: bigint;
  readonly owner: Actor;
  /** Null registers without one. */
  readonly uri: string | null | { readonly raw: Hex };
}

/** Everybody who registers, by id. Merchants come first, then the payers with one card variant each. */
export interface RegistryCast {
  readonly sellers: readonly RegisteredAgent[];
  readonly others: readonly RegisteredAgent[];
}

/** These sellers never heard of ERC-8004. */
const UNREGISTERED_SELLERS = 2;

/**
 * Plans all registrations and publishes their files. Ids are given in the order of the list, because the registry counts
 * from 0 and nothing else registers before.
 */
export function registryCast(cast: Cast, host: CardHost): RegistryCast {
  const sellers = cast.merchants.slice(0, -UNREGISTERED_SELLERS).map((merchant, index): RegisteredAgent => {
    const place = { host, agentId: BigInt(index) };
    const file = JSON.stringify(merchantCard(place, merchant));
    return { label: merchant.name, agentId: place.agentId, owner: merchant, uri: kept(place, file, index) };
  });
  const others = CARD_VARIANTS.map(([label, variant], index): RegisteredAgent => {
    const agentId = BigInt(sellers.length + index);
    const owner = cast.agents[index % cast.agents.length];
    if (owner === undefined) throw new Error('the cast has no agents');
    return { label, agentId, owner, uri: variant({ host, agentId }) };
  });
  proveDomain(host, sellers);
  return { sellers, others };
}

/** Every way of keeping a card is as good as another. */
function kept(place: CardPlace, file: string, index: number): string {
  const ways = [
    () => onWeb(place, file),
    () => asBase64(file),
    () => onIpfs(place, file),
    () => asPlainData(file),
  ];
  return (ways[index % ways.length] ?? ways[0])?.() ?? '';
}

/** The host's own word: it vouches for the sellers under its first name, and for nobody under its other one. */
function proveDomain(host: CardHost, sellers: readonly RegisteredAgent[]): void {
  const registrations = sellers.map(({ agentId }) => ({ agentId: Number(agentId), agentRegistry: REGISTRY }));
  host.publish(PROOF_PATH, (response, url) =>
    json({ registrations: url.origin === host.origin ? registrations : [] })(response, url),
  );
}
