import { type Hex, parseTransaction } from 'viem';

/** The transactions of one sender, by nonce, so that what a reorg took out of the chain can be sent again as it was signed. */
export interface SentTransactions {
  /** `raw` is what `eth_sendRawTransaction` was given. */
  record(raw: Hex): void;
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
  return {
    record(raw) {
      const { nonce = 0 } = parseTransaction(raw);
      byNonce.set(nonce, raw);
      byNonce.delete(nonce - KEPT);
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
