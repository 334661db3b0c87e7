import { type Address, isAddress, readAddress } from '../../core/domain/address.ts';
import type { Chain } from '../../core/domain/chain.ts';
import { chainOfNetwork } from '../../core/domain/x402-networks.ts';
import { fieldOf, isObject, listOf, parseJson } from '../fetch/json-fields.ts';
import { type AskProblem, askFacilitator } from './ask-facilitator.ts';

/**
 * `GET /supported` of a facilitator: the addresses that it relays with. Source: protocol.md 1.5. The answer is a stranger's
 * data: bounded in time and size, never redirected elsewhere, and read for the two fields that matter, whatever else is there.
 */

const TIMEOUT_MS = 10_000;
/** The largest answer seen has some fifty kinds: 20 kB. */
const ANSWER_MAX_BYTES = 1_000_000;
/** Nobody relays with more; the table of a year has 40 for the largest. */
const SIGNERS_MAX = 1_000;

/** Why an answer was not used; a code that may be logged, never the facilitator's own words. */
export type SupportedProblem = AskProblem | 'no_signers' | 'too_many_signers';

export interface Signer {
  readonly chain: Chain;
  readonly address: Address;
}

/** The signers on the given chains, or why there are none. `url` is the facilitator's base, with or without a slash. */
export async function askSupported(
  url: string,
  chains: readonly Chain[],
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<readonly Signer[] | SupportedProblem> {
  const question = { url, path: 'supported', maxBytes: ANSWER_MAX_BYTES, timeoutMs };
  const answer = await askFacilitator(question, signal);
  return answer.ok ? readSupported(answer.text, chains) : answer.problem;
}

/** Reads an answer. Networks that are not ours and addresses that are none are passed over. */
export function readSupported(text: string, chains: readonly Chain[]): readonly Signer[] | SupportedProblem {
  const answer = parseJson(text);
  if (answer === undefined) return 'not_json';
  const signers = fieldOf(answer, 'signers');
  if (!isObject(signers)) return 'no_signers';
  const served = servedChains(answer, chains);
  const found = new Map<string, Signer>();
  for (const [network, addresses] of Object.entries(signers)) {
    for (const address of addressesOf(addresses))
      for (const chain of chainsOf(network, served, chains))
        found.set(`${chain} ${address}`, { chain, address });
    if (found.size > SIGNERS_MAX) return 'too_many_signers';
  }
  return [...found.values()];
}

/** Chains among ours for which a kind is offered; all of ours where no kind tells. */
function servedChains(answer: unknown, chains: readonly Chain[]): readonly Chain[] {
  const kinds = fieldOf(answer, 'kinds');
  const offered = listOf(kinds).flatMap((kind) => {
    const chain = chainNamed(fieldOf(kind, 'network'));
    return chain === null ? [] : [chain];
  });
  return offered.length === 0 ? chains : chains.filter((chain) => offered.includes(chain));
}

/** `eip155:*` stands for every chain that the facilitator serves. */
function chainsOf(network: string, served: readonly Chain[], chains: readonly Chain[]): readonly Chain[] {
  if (network === 'eip155:*') return served;
  return chains.filter((chain) => chain === chainNamed(network));
}

function chainNamed(network: unknown): Chain | null {
  return typeof network === 'string' ? chainOfNetwork(network) : null;
}

function addressesOf(value: unknown): Address[] {
  return listOf(value).flatMap((entry) => {
    const address = typeof entry === 'string' ? readAddress(entry) : 'malformed';
    return isAddress(address) ? [address] : [];
  });
}
