import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { SUPPORTED_SIGNERS } from '../../clickhouse/tables/catalogues.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { CatalogueSection } from '../../core/config/catalogue.ts';
import type { Config } from '../../core/config/config.ts';
import { type Address, isAddress, readAddress } from '../../core/domain/account.ts';
import { addressKey, type Chain, namespaceOf, wildcardOf } from '../../core/domain/chains.ts';
import { chainOfNetwork } from '../../core/domain/networks.ts';
import { type Log, providerName } from '../../core/log.ts';
import { fieldOf, isObject, listOf, parseJson } from '../fetch/document.ts';
import { type AskProblem, askFacilitator } from '../fetch/facilitator.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { SupportedSigner } from './catalogue.ts';

/** Polls facilitators for the addresses that they relay with, and stores the first day of each. */
export interface SignerWatch {
  /** All signers ever seen, including those stored before this process started. */
  known(): readonly SupportedSigner[];
  /** Until the signal aborts, with its reason. */
  watch(): Promise<never>;
}

/** A new relayer is named within the hour; polling more often would burden facilitators for little. */
const REFRESH_MS = 3_600_000;
const RETRY_MS = 600_000;
/** How soon a newly configured facilitator is polled. */
const LOOK_EVERY_MS = 1_000;

interface SignerWatchDeps {
  readonly config: Pick<Config, 'chains'>;
  readonly facilitators: () => CatalogueSection['facilitators'];
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export async function createSignerWatch(deps: SignerWatchDeps): Promise<SignerWatch> {
  const { config, writer, log, signal } = deps;
  const chains = config.chains.map(({ chain }) => chain);
  let known: readonly SupportedSigner[] = await untilAcknowledged(log, signal, () => loadSigners(writer));
  const dueAtMs = new Map<string, number>();

  const remember = async (facilitator: string, signers: readonly Signer[]): Promise<void> => {
    const old = new Set(known.filter((signer) => signer.facilitator === facilitator).map(addressKey));
    const today = new Date().toISOString().slice(0, 10);
    const fresh = signers
      .filter((signer) => !old.has(addressKey(signer)))
      .map((signer) => ({ ...signer, facilitator, firstSeen: today }));
    if (fresh.length === 0) return;
    // Stored before use: if a restart lost the day, payments would lose their facilitator.
    await untilAcknowledged(log, signal, () => saveSigners(writer, fresh));
    known = [...known, ...fresh];
    log.info({ facilitator, signers: fresh.length }, 'new signers in /supported');
  };
  /** Why a facilitator gave none; null where it did. */
  const ask = async (facilitator: string, url: string): Promise<SupportedProblem | null> => {
    const answer = await askSupported(url, chains, signal);
    const failed = typeof answer === 'string';
    dueAtMs.set(`${facilitator} ${url}`, performance.now() + (failed ? RETRY_MS : REFRESH_MS));
    if (failed) return answer;
    await remember(facilitator, answer);
    return null;
  };
  /** In one line: where the network is away, it is away for all of them. */
  const tell = (problems: readonly (readonly [host: string, problem: SupportedProblem])[]): void => {
    if (problems.length > 0)
      log.warn(
        { problems: Object.fromEntries(problems) },
        '/supported gave no signers; those that are known stay',
      );
  };
  return {
    known: () => known,
    async watch() {
      for (;;) {
        const problems: (readonly [string, SupportedProblem])[] = [];
        for (const { id, url } of deps.facilitators()) {
          if (url === undefined || performance.now() < (dueAtMs.get(`${id} ${url}`) ?? 0)) continue;
          const problem = await ask(id, url);
          if (problem !== null) problems.push([providerName(url), problem]);
        }
        tell(problems);
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    },
  };
}

/**
 * `GET /supported` of a facilitator (x402 specification): the addresses that it relays with. The answer is untrusted: bounded in time
 * and size, redirects are not followed, and only two fields are read.
 */

const TIMEOUT_MS = 10_000;
/** The largest answer seen has some fifty kinds: 20 kB. */
const ANSWER_MAX_BYTES = 1_000_000;
/** In a year of settlements the largest facilitator used 40. */
const ANSWER_SIGNERS_MAX = 1_000;

/** Why an answer was not used; a code that may be logged, never the facilitator's own text. */
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

/** Reads an answer. Skips networks that we do not index and invalid addresses. */
export function readSupported(text: string, chains: readonly Chain[]): readonly Signer[] | SupportedProblem {
  const answer = parseJson(text);
  if (answer === undefined) return 'not_json';
  const signers = fieldOf(answer, 'signers');
  if (!isObject(signers)) return 'no_signers';
  const served = servedChains(answer, chains);
  const found = new Map<string, Signer>();
  for (const [network, addresses] of Object.entries(signers)) {
    for (const entry of listOf(addresses))
      for (const chain of chainsOf(network, served, chains)) {
        const address = readAddress(entry, namespaceOf(chain));
        if (isAddress(address)) found.set(`${chain} ${address}`, { chain, address });
      }
    if (found.size > ANSWER_SIGNERS_MAX) return 'too_many_signers';
  }
  return [...found.values()];
}

/** Chains among ours for which a kind is offered; all of ours where no kind names a chain. */
function servedChains(answer: unknown, chains: readonly Chain[]): readonly Chain[] {
  const kinds = fieldOf(answer, 'kinds');
  const offered = listOf(kinds).flatMap((kind) => {
    const chain = chainNamed(fieldOf(kind, 'network'));
    return chain === null ? [] : [chain];
  });
  return offered.length === 0 ? chains : chains.filter((chain) => offered.includes(chain));
}

/** `eip155:*` stands for every such chain that the facilitator serves. */
function chainsOf(network: string, served: readonly Chain[], chains: readonly Chain[]): readonly Chain[] {
  const named = chainNamed(network);
  if (named !== null) return chains.filter((chain) => chain === named);
  return served.filter((chain) => network === wildcardOf(chain));
}

function chainNamed(network: unknown): Chain | null {
  return typeof network === 'string' ? chainOfNetwork(network) : null;
}

/** Table `supported_signers`: the signers that facilitators listed, with the first day of each. */

const MAX_SECONDS = 30;
const SIGNERS_MAX = 100_000;
const SIGNER = reading(SUPPORTED_SIGNERS, ['facilitator', 'chain', 'address', 'first_seen']);

export async function loadSigners(writer: Writer): Promise<SupportedSigner[]> {
  const { rows } = await writer.rows({
    name: 'load-supported-signers',
    // Rows of a signer that are not merged yet may name several days.
    sql: sql`SELECT ${SIGNER.columns} FROM (
        SELECT facilitator, chain, address, min(first_seen) AS first_seen FROM supported_signers GROUP BY facilitator, chain, address)
      ORDER BY facilitator, chain, address`,
    maxSeconds: MAX_SECONDS,
    maxRows: SIGNERS_MAX,
  });
  return rows.map(SIGNER.read);
}

/** Repeating it changes nothing: the earliest day of a signer stays. */
export function saveSigners(writer: Writer, rows: readonly SupportedSigner[]): Promise<void> {
  return insertRows(writer, { name: 'save-supported-signers', table: SUPPORTED_SIGNERS, rows, fixed: {} });
}
