import { describe, expect, test } from 'vitest';
import type { FacilitatorConfig } from '../../../core/config/catalogue.ts';
import { address } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { FACILITATOR_NAMES } from '../../../core/domain/facilitator-names.ts';
import { UserError } from '../../../core/user-error.ts';
import { readBuiltInRelayers } from '../../../ingest/grading/built-in.ts';
import { buildCatalogue, catalogueOf, createCatalogueHolder } from '../../../ingest/grading/catalogue.ts';
import { wallet } from '../../kit/chain-logs.ts';

const [BASE, POLYGON] = [chainOf(8453), chainOf(137)];
const COINBASE = address('0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6');
const NOW = Date.parse('2026-11-21T00:00:00Z') / 1_000;

const facilitator = (id: string, over: Partial<FacilitatorConfig> = {}): FacilitatorConfig => ({
  id,
  name: id.toUpperCase(),
  builderCodes: [],
  relayers: [],
  ...over,
});
const relayer = (at: string, firstSeen = '2026-01-01') => ({ chain: BASE, address: address(at), firstSeen });

describe('the built-in table', () => {
  const catalogue = buildCatalogue({ facilitators: [], payees: [] });

  test('is complete, names each relayer once and every facilitator as it writes itself', () => {
    expect(readBuiltInRelayers()).toHaveLength(160);
    expect(catalogue.relayers).toHaveLength(160);
    for (const { facilitator: id } of catalogue.relayers) expect(FACILITATOR_NAMES).toHaveProperty([id]);
    expect(new Set(catalogue.relayers.map(({ facilitator: id }) => id))).toEqual(
      new Set(Object.keys(FACILITATOR_NAMES)),
    );
  });

  test('names a relayer from its first day on, on its own chain', () => {
    const firstDay = Date.parse('2025-05-05T00:00:00Z') / 1_000;
    expect(catalogue.facilitatorOf(BASE, COINBASE, firstDay)).toBe('coinbase');
    expect(catalogue.facilitatorOf(BASE, COINBASE, firstDay - 1)).toBeUndefined();
    expect(catalogue.facilitatorOf(POLYGON, COINBASE, NOW)).toBeUndefined();
  });

  test('knows one address on two chains apart', () => {
    const thirdweb = address('0x80c08de1a05df2bd633cf520754e40fde3c794d3');
    expect([BASE, POLYGON].map((chain) => catalogue.facilitatorOf(chain, thirdweb, NOW))).toEqual([
      'thirdweb',
      'thirdweb',
    ]);
  });

  test('knows the code that Coinbase signs with', () => {
    expect(catalogue.builderCodes.get('cdp_facil1')).toBe('coinbase');
  });
});

test('a relayer that the service accepted has an id of its own, below every other source', () => {
  const unknown = address('0x1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c');
  const accepted = [relayer(unknown), relayer(COINBASE)];
  const catalogue = buildCatalogue({ facilitators: [], payees: [] }, { accepted });
  expect(catalogue.facilitatorOf(BASE, unknown, NOW)).toBe('proposed-1f2e3d4c5b6a7988');
  expect(catalogue.relayers.find((entry) => entry.address === unknown)).toMatchObject({
    facilitatorName: 'Proposed 0x1f2e3d4c…',
    source: 'proposed',
  });
  expect(catalogue.facilitatorOf(BASE, COINBASE, NOW)).toBe('coinbase');
  const own = facilitator('own', { relayers: [relayer(unknown)] });
  const named = buildCatalogue({ facilitators: [own], payees: [] }, { accepted });
  expect(named.facilitatorOf(BASE, unknown, NOW)).toBe('own');
});

describe('the configuration', () => {
  test('replaces a built-in relayer, its date and its name', () => {
    const own = facilitator('own', { relayers: [relayer(COINBASE)], builderCodes: ['cdp_facil1'] });
    const catalogue = buildCatalogue({ facilitators: [own], payees: [] });
    expect(catalogue.facilitatorOf(BASE, COINBASE, NOW)).toBe('own');
    expect(catalogue.builderCodes.get('cdp_facil1')).toBe('own');
    expect(catalogue.relayers.filter(({ address: at }) => at === COINBASE)).toEqual([
      { ...relayer(COINBASE), facilitator: 'own', facilitatorName: 'OWN', source: 'configured' },
    ]);
  });

  test('renames a built-in facilitator everywhere', () => {
    const renamed = facilitator('coinbase', { name: 'CDP', relayers: [relayer(wallet(1))] });
    const names = buildCatalogue({ facilitators: [renamed], payees: [] }).relayers.flatMap((entry) =>
      entry.facilitator === 'coinbase' ? [entry.facilitatorName] : [],
    );
    expect(names).toEqual(Array.from({ length: 48 }, () => 'CDP'));
  });

  test('a payee listed for several resources is one payee, named by the first', () => {
    const payee = { chain: BASE, address: wallet(7), name: 'first', resource: 'r1' };
    const { payees, isPayee } = buildCatalogue({
      facilitators: [],
      payees: [payee, { ...payee, name: 'second', resource: 'r2' }],
    });
    expect(payees).toEqual([{ ...payee, source: 'configured' }]);
    expect([isPayee(BASE, wallet(7)), isPayee(POLYGON, wallet(7)), isPayee(BASE, wallet(8))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([
    ['relayer', { relayers: [relayer(wallet(1))] }],
    ['builder code', { builderCodes: ['same'] }],
  ])('one %s of two facilitators is refused, naming both', (what, part) => {
    const build = () =>
      buildCatalogue({ facilitators: [facilitator('one', part), facilitator('two', part)], payees: [] });
    expect(build).toThrow(UserError);
    expect(build).toThrow(new RegExp(`${what} .*belongs to both one and two`));
  });

  test('a first day that is no date is refused', () => {
    const broken = facilitator('one', { relayers: [relayer(wallet(1), '2026-13-45')] });
    expect(() => buildCatalogue({ facilitators: [broken], payees: [] })).toThrow(
      /firstSeen 2026-13-45 is no date/,
    );
  });
});

const empty = () => catalogueOf({ relayers: [], payees: [], builderCodes: new Map() });

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

test('a loan after a replacement is not waited for', async () => {
  const holder = createCatalogueHolder(empty());
  const replaced = holder.replace(empty());
  void holder.lend(() => new Promise(() => undefined));
  await replaced;
});
