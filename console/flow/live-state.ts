import { chainText, durationText } from '../format.ts';
import type { ChainTelemetry } from '../wire.ts';

/** Whether a list of newest settlements is live, which the index decides and not the page. Pure. */

/** Chains make a block every one to twelve seconds. A chain that is further behind is not live. */
export const LIVE_LAG_MAX_SECONDS = 60;

export interface LiveState {
  readonly tone: 'live' | 'late' | 'still';
  readonly text: string;
}

/** `chains` are null until `/telemetry` has answered, and where it does not answer. */
export function liveStateOf(chains: readonly ChainTelemetry[] | null): LiveState {
  if (chains === null) return { tone: 'still', text: 'status unknown' };
  const followed = chains.filter(({ state }) => state !== 'imported');
  if (followed.length === 0) {
    const isSample = chains.some(({ sample_data_to: to }) => to !== null);
    return { tone: 'still', text: isSample ? 'sample data, not live' : 'imported data, not live' };
  }
  const late = followed.filter((chain) => !isFresh(chain));
  const worst = late.toSorted((a, b) => lagOf(b) - lagOf(a))[0];
  if (worst === undefined) return { tone: 'live', text: 'live' };
  const others = late.length > 1 ? `, ${late.length - 1} more late` : '';
  return { tone: 'late', text: `${chainText(worst.chain)} ${lateText(worst)}${others}` };
}

const DEAD_STATES: ReadonlySet<string> = new Set(['contradicting', 'unreachable', 'stopped', 'not_started']);

/** Whether no newer block of the chain arrives until something changes. */
export function isStuck({ state }: ChainTelemetry): boolean {
  return DEAD_STATES.has(state);
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  contradicting: 'its nodes contradict the chain or each other',
  incomplete: 'some logs are not rows yet',
  not_started: 'not started',
  stopped: 'stopped',
  unreachable: 'its node does not answer',
};

/** The state in words. */
export function stateText({ state }: ChainTelemetry): string {
  return STATE_WORDS[state] ?? state.replaceAll('_', ' ');
}

/** Whether the newest blocks of the chain are in the index, as far as its node knows them. */
export function isFresh(chain: ChainTelemetry): boolean {
  const { lag_seconds: lag } = chain;
  return lag !== null && lag <= LIVE_LAG_MAX_SECONDS && !isStuck(chain);
}

function lagOf({ lag_seconds: lag }: ChainTelemetry): number {
  return lag ?? Number.POSITIVE_INFINITY;
}

function lateText({ state, lag_seconds: lag }: ChainTelemetry): string {
  if (lag === null) return 'not started';
  if (lag <= LIVE_LAG_MAX_SECONDS) return state.replaceAll('_', ' ');
  return `${durationText(lag)} behind`;
}
