import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyTooLarge, readBounded } from '../../core/bounded-body.ts';

test('a body up to the bound is read whole', async () => {
  expect(String(await readBounded(Readable.from([Buffer.from('ab'), Buffer.from('cd')]), 4))).toBe('abcd');
  expect(String(await readBounded(null, 4))).toBe('');
});

test('the first byte too many ends the stream', async () => {
  let given = 0;
  const endless = Readable.from(
    (function* () {
      for (;;) {
        given++;
        yield Buffer.alloc(10);
      }
    })(),
    { highWaterMark: 1 },
  );
  await expect(readBounded(endless, 25)).rejects.toBeInstanceOf(BodyTooLarge);
  expect(endless.destroyed).toBe(true);
  expect(given).toBeLessThan(10);
});
