import { createHash } from 'node:crypto';
import { QueryFailed } from '../sandbox.ts';

/**
 * Texts that the engine could not be stopped from running, or from planning: each of them would cost everybody an engine again.
 */
export interface Quarantine {
  /** Throws `QueryFailed` (`unsupported`) for a text that is in it. */
  check(text: string): void;
  add(text: string): void;
}

/** `max`: texts that are remembered; beyond it the oldest is forgotten. */
export function createQuarantine(max: number): Quarantine {
  const digests = new Set<string>();
  return {
    check(text) {
      if (digests.has(digestOf(text))) throw quarantined();
    },
    add(text) {
      digests.add(digestOf(text));
      const [oldest] = digests;
      if (digests.size > max && oldest !== undefined) digests.delete(oldest);
    },
  };
}

function quarantined(): QueryFailed {
  return new QueryFailed({
    reason: 'unsupported',
    detail: 'This query could not be stopped when it ran before. It is not run again.',
    hint: 'Write it with smaller values: a single step of it takes longer than its tier.',
    figures: null,
  });
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
