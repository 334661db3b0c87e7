import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { createHeldResults } from '../../../sandbox/run/admission.ts';

describe('results in the engine’s memory', () => {
  test('are never more than so many, and one that was read or given up makes room', async () => {
    const held = createHeldResults(2);
    const [first, second] = [held.take(), held.take()];
    expect(held.take()).toBeNull();
    const read = Readable.from([Buffer.from('row\n')]);
    const left = Readable.from([Buffer.from('row\n')]);
    first?.freeWith(read);
    second?.freeWith(left);
    expect(held.take()).toBeNull();
    read.resume();
    await finished(read);
    expect(held.take()).not.toBeNull();
    expect(held.take()).toBeNull();
    left.destroy();
    await new Promise((resolve) => left.once('close', resolve));
    expect(held.take()).not.toBeNull();
  });

  test('that never came make room once', () => {
    const held = createHeldResults(1);
    const failed = held.take();
    failed?.free();
    failed?.free();
    expect(held.take()).not.toBeNull();
    expect(held.take()).toBeNull();
  });
});
