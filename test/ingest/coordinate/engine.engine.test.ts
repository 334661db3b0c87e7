import { afterEach, describe, expect } from 'vitest';
import { highestToken } from '../../../clickhouse/engine/guard.ts';
import { SETTLEMENTS } from '../../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import type { Held, LeadContext } from '../../../ingest/coordinate/coordination.ts';
import { engineCoordination } from '../../../ingest/coordinate/engine.ts';
import { claimFence } from '../../../ingest/write/fence.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { settlement } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Coordination without Redis, over a real engine. */

let stopping = new AbortController();
const running: Promise<unknown>[] = [];
afterEach(async () => {
  stopping.abort();
  await Promise.allSettled(running.splice(0));
  stopping = new AbortController();
});

const context = (engine: TestEngine): LeadContext => ({
  writer: engine.writer,
  log: testLog,
  signal: stopping.signal,
});
const untilAborted = ({ signal }: Held): Promise<void> =>
  new Promise((end) => signal.addEventListener('abort', () => end(), { once: true }));
const write = ({ writer, versions }: Held): Promise<void> =>
  insertRows(writer, {
    name: 'write-settlements',
    table: SETTLEMENTS,
    rows: [settlement({ blockNumber: 7 })],
    fixed: { ver: versions.next(), del: 0 },
  });

describe('an engine of this process', () => {
  test('gives every scope at once, with one sequence of versions and no fence', async ({ engine }) => {
    const { lead } = engineCoordination({ isOwnEngine: true });
    const led: Held[] = [];
    for (const scope of ['own-catalogue', 'own-chain']) {
      const leading = lead(scope, context(engine), (held) => {
        led.push(held);
        return untilAborted(held);
      });
      running.push(leading);
    }
    await waitUntil('both scopes are led', () => led.length === 2);
    expect(led.map(({ guard }) => guard)).toEqual([null, null]);
    const [one, other] = led;
    const first = one?.versions.next() ?? 0n;
    expect(other?.versions.next()).toBeGreaterThan(first);
    expect(await highestToken(engine.writer, 'own-chain')).toBe(0n);
  });
});

describe('an engine that other processes can reach', () => {
  test('a second process stands by for every scope that the first one leads', async ({ engine }) => {
    const [one, two] = [
      engineCoordination({ isOwnEngine: false }),
      engineCoordination({ isOwnEngine: false }),
    ];
    let isLed = false;
    const first = one.lead('shared-chain', context(engine), (held) => {
      isLed = true;
      return untilAborted(held);
    });
    running.push(first);
    await waitUntil('the first one leads', () => isLed);
    const stood: string[] = [];
    const log = { ...testLog, info: (_facts: unknown, text: string) => stood.push(text) };
    let isSecondLeading = false;
    const deps = { ...context(engine), log: log as unknown as LeadContext['log'] }; // `lead` only informs
    const second = two.lead('shared-chain', deps, async () => {
      isSecondLeading = true;
    });
    running.push(second);
    await waitUntil('the second one says that it stands by', () =>
      stood.includes('another process leads; this one stands by'),
    );
    expect(isSecondLeading).toBe(false);
  });

  test('a lead inside a lead ends with it when the outer scope is overtaken', async ({ engine }) => {
    const { lead } = engineCoordination({ isOwnEngine: false });
    let isLed = false;
    let attempt = (): void => undefined;
    const attempted = new Promise<void>((resolve) => {
      attempt = resolve;
    });
    let innerStarts = 0;
    let hasOuterEnded = false;
    const leading = lead('outer', context(engine), async (outer) => {
      try {
        await lead(
          'inner',
          { ...context(engine), writer: outer.writer, signal: outer.signal },
          async (inner) => {
            innerStarts += 1;
            isLed = true;
            await attempted;
            await write(inner);
          },
        );
      } finally {
        hasOuterEnded = true;
      }
    });
    running.push(leading);
    await waitUntil('both are led', () => isLed);
    await claimFence(engine.writer, { scope: 'outer', owner: 'another process', atLeast: 0n });
    attempt();
    await waitUntil('the outer lead has ended', () => hasOuterEnded);
    expect(innerStarts).toBe(1);
  });
});
