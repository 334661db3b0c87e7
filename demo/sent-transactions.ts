import { type Hex, parseTransaction } from 'viem';

/** The transactions of one sender, by nonce, so that what a reorg took out of the chain can be sent again as it was signed. */
export interface SentTransactions {
  /** `raw` is what `eth_sendRawTransaction` was given. */
  record(raw: Hex): void;
  /** Above every nonce that was ever sent; 0 before the first. */
  readonly next: number;
  /**
   * Sends again what the node no longer knows: without it, every later transaction waits for a nonce that never comes.
   * `nextNonce` is what the node counts, its pool included.
   */
  resend(nextNonce: number, send: (raw: Hex) => Promise<unknown>): Promise<void>;
}

/** Far more than the blocks of the deepest reorg hold. */
const KEPT = 1_000;

export function createSentTransactions(): SentTransactions {
  const byNonce = new Map<number, Hex>();
  let next = 0;
  return {
    record(raw) {
      const { nonce = 0 } = parseTransaction(raw);
      byNonce.set(nonce, raw);
      next = Math.max(next, nonce + 1);
      byNonce.delete(nonce - KEPT);
    },
    get next() {
      return next;
    },
    async resend(nextNonce, send) {
      for (let nonce = nextNonce; ; nonce++) {
        const raw = byNonce.get(nonce);
        if (raw === undefined) return;
        // Refused where it came back by itself meanwhile; the next look counts again.
        await send(raw).catch(() => undefined);
      }
    },
  };
}
