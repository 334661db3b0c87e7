import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { addKey, createOrganization } from '../../kit/access.ts';
import { chargeGate } from '../../kit/charge-gate.ts';
import { gateRequest, usageOperation } from '../../kit/gate.ts';
import type { OpenedStore } from '../accounts/control-store.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

/** The same test over both stores. */
export function keyRevoked(open: () => Promise<OpenedStore>): void {
  test('a stream of events ends once another process revokes its key, and streams of other keys go on', async () => {
    const opened = await open();
    const { store } = opened;
    const other = await opened.reopen();
    const organizationId = await createOrganization(store);
    const streams: Readable[] = [];
    const operation = usageOperation(
      async () => {
        const body = new Readable({ read: () => undefined });
        body.push('event: job\n\n');
        streams.push(body);
        const stream = { mediaType: 'text/event-stream; charset=utf-8', headers: {}, body };
        return { usedQu: null, answer: () => ({ stream }), discard: () => undefined };
      },
      { free: true },
    );
    const gate = chargeGate(store, NOW_MS, { keyLookMs: 1 });
    const follow = async (id: string): Promise<Readable> => {
      const key = await addKey(store, { id, organizationId });
      const { answer } = await gate.call(gateRequest(operation, { credentials: { 'x-api-key': key } }));
      if (!('stream' in answer)) throw new Error('the answer is no stream');
      return answer.stream.body;
    };
    const [revoked, good] = [await follow(`key_r${organizationId}`), await follow(`key_g${organizationId}`)];
    const read: string[] = [];
    for await (const chunk of revoked) {
      read.push(String(chunk));
      await other.accounts.revokeKey({ keyId: `key_r${organizationId}`, atMs: NOW_MS });
    }
    expect(read).toEqual(['event: job\n\n']);
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    good.destroy();
    await opened.close();
  });
}
