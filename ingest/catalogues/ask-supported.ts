import { type Address, isAddress, readAddress } from '../../src/domain/address.ts';
import { type Chain, chainOf, isChain } from '../../src/domain/chain.ts';
import { knownChain } from '../../src/domain/known-chains.ts';

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
export type SupportedProblem =
  | 'unreachable'
  | 'timeout'
  | 'redirected'
  | 'refused'
  | 'too_large'
  | 'not_json'
  | 'no_signers'
  | 'too_many_signers';

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
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(supportedUrl(url), {
      redirect: 'manual',
      headers: { accept: 'application/json', ...credentialsOf(url) },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (response.status >= 300 && response.status < 400) return await drop(response, 'redirected');
    if (!response.ok) return await drop(response, 'refused');
    const text = await textWithin(response, ANSWER_MAX_BYTES);
    return text === null ? 'too_large' : readSupported(text, chains);
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return 'timeout';
    // fetch tells a connection that failed and a broken body by the same TypeError.
    if (error instanceof TypeError) return 'unreachable';
    throw error;
  }
}

/** `fetch` refuses credentials inside a URL; they travel as the header that they mean. */
function supportedUrl(url: string): URL {
  const asked = new URL(url);
  asked.username = '';
  asked.password = '';
  asked.pathname = `${asked.pathname.replace(/\/+$/, '')}/supported`;
  return asked;
}

function credentialsOf(url: string): Record<string, string> {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` };
}

async function drop(response: Response, problem: SupportedProblem): Promise<SupportedProblem> {
  await response.body?.cancel();
  return problem;
}

/** Null when there is more; the rest is not read. */
async function textWithin(response: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads an answer. Networks that are not ours and addresses that are none are passed over. */
export function readSupported(text: string, chains: readonly Chain[]): readonly Signer[] | SupportedProblem {
  const answer = parse(text);
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
  const offered = (Array.isArray(kinds) ? kinds : []).flatMap((kind) => {
    const chain = chainNamed(fieldOf(kind, 'network'));
    return chain === undefined ? [] : [chain];
  });
  return offered.length === 0 ? chains : chains.filter((chain) => offered.includes(chain));
}

/** `eip155:*` stands for every chain that the facilitator serves. */
function chainsOf(network: string, served: readonly Chain[], chains: readonly Chain[]): readonly Chain[] {
  if (network === 'eip155:*') return served;
  return chains.filter((chain) => chain === chainNamed(network));
}

/** v2 names a network by CAIP-2, v1 by a short name (protocol.md 1.7). */
function chainNamed(network: unknown): Chain | undefined {
  if (typeof network !== 'string') return undefined;
  if (isChain(network)) return network;
  const known = knownChain(network);
  return known === undefined ? undefined : chainOf(known.chainId);
}

function addressesOf(value: unknown): Address[] {
  return (Array.isArray(value) ? value : []).flatMap((entry) => {
    const address = typeof entry === 'string' ? readAddress(entry) : 'malformed';
    return isAddress(address) ? [address] : [];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
