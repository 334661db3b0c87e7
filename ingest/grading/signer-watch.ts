import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { CatalogueSection, Config } from '../../core/config/config.ts';
import { type Log, providerName } from '../../core/log.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { askSupported, type Signer } from './ask-supported.ts';
import type { SupportedSigner } from './catalogue.ts';
import { loadSigners, saveSigners } from './supported-signers.ts';

/** Asks facilitators again and again which addresses they relay with, and remembers the first day of each. */
export interface SignerWatch {
  /** All that was ever seen, with what other processes stored before this one began. */
  known(): readonly SupportedSigner[];
  /** Until the signal aborts, with its reason. */
  watch(): Promise<never>;
}

/** A new relayer is named within the hour; more often would be a burden on strangers. */
const REFRESH_MS = 3_600_000;
const RETRY_MS = 600_000;
/** How soon a facilitator that was configured a moment ago is asked. */
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
    const old = new Set(known.filter((signer) => signer.facilitator === facilitator).map(keyOf));
    const today = new Date().toISOString().slice(0, 10);
    const fresh = signers
      .filter((signer) => !old.has(keyOf(signer)))
      .map((signer) => ({ ...signer, facilitator, firstSeen: today }));
    if (fresh.length === 0) return;
    // Stored before it is used: a day that a restart forgot would unname payments.
    await untilAcknowledged(log, signal, () => saveSigners(writer, fresh));
    known = [...known, ...fresh];
    log.info({ facilitator, signers: fresh.length }, 'new signers in /supported');
  };
  const ask = async (facilitator: string, url: string): Promise<void> => {
    const answer = await askSupported(url, chains, signal);
    const failed = typeof answer === 'string';
    dueAtMs.set(`${facilitator} ${url}`, performance.now() + (failed ? RETRY_MS : REFRESH_MS));
    if (failed)
      log.warn({ facilitator, host: providerName(url), problem: answer }, '/supported gave no signers');
    else await remember(facilitator, answer);
  };
  return {
    known: () => known,
    async watch() {
      for (;;) {
        for (const { id, url } of deps.facilitators())
          if (url !== undefined && performance.now() >= (dueAtMs.get(`${id} ${url}`) ?? 0))
            await ask(id, url);
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    },
  };
}

function keyOf({ chain, address }: Signer): string {
  return `${chain} ${address}`;
}
