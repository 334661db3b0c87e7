import { expect, test } from 'vitest';
import { catalogueOf } from '../../../ingest/grading/catalogue.ts';
import { createCatalogueHolder } from '../../../ingest/grading/catalogue-holder.ts';

const empty = () => catalogueOf({ relayers: [], payees: [], builderCodes: new Map(), deposits: [] });

test('a replacement counts at once, and waits for everything that was lent before, failed or not', async () => {
  const [old, next] = [empty(), empty()];
  const holder = createCatalogueHolder(old);
  const events: string[] = [];
  let finish = (): void => undefined;
  let fail = (): void => undefined;
  const first = holder.lend(
    (catalogue) =>
      new Promise<void>((resolve) => {
        expect(catalogue).toBe(old);
        finish = resolve;
      }),
  );
  const second = holder.lend(
    () => new Promise<void>((_, reject) => (fail = () => reject(new Error('broken')))),
  );
  const replaced = holder.replace(next).then(() => events.push('replaced'));
  expect(holder.current()).toBe(next);
  await holder.lend((catalogue) => Promise.resolve(expect(catalogue).toBe(next)));
  finish();
  await first;
  events.push('first ended');
  fail();
  await expect(second).rejects.toThrow('broken');
  await replaced;
  expect(events).toEqual(['first ended', 'replaced']);
});

test('what is lent after a replacement is not waited for', async () => {
  const holder = createCatalogueHolder(empty());
  const replaced = holder.replace(empty());
  void holder.lend(() => new Promise(() => undefined));
  await replaced;
});
