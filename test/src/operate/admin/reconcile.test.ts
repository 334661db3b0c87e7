import { expect, test } from 'vitest';
import type { UnitBalance } from '../../../../core/domain/plan.ts';
import type { LedgerEntry, UnitStore } from '../../../../src/accounts/unit-store.ts';
import { reconcileOne } from '../../../../src/operate/admin/reconcile.ts';

/** Ten granted; one call captured with a rest, one failed, one overdue, one running. */
const BOOKS: readonly LedgerEntry[] = [
  row(1, 'grant', 10, 'g', { balance: 10, held: 0 }),
  row(2, 'hold', 3, 'a', { balance: 7, held: 3 }),
  row(3, 'hold', 1, 'b', { balance: 6, held: 4 }),
  { ...row(4, 'capture', 2, 'a', { balance: 7, held: 1 }), released: 1 },
  row(5, 'release', 1, 'b', { balance: 8, held: 0 }),
  row(6, 'hold', 2, 'c', { balance: 6, held: 2 }),
  row(7, 'overdue', 2, 'c', { balance: 8, held: 0 }),
  row(8, 'hold', 1, 'd', { balance: 7, held: 1 }),
];
const FIGURES: UnitBalance = { granted: 10, balance: 7, held: 1, spent: 2 };

function row(
  sequence: number,
  kind: LedgerEntry['kind'],
  units: number,
  subject: string,
  figures: Pick<LedgerEntry, 'balance' | 'held'>,
): LedgerEntry {
  return { sequence, atMs: 0, kind, units, released: 0, subject, note: '', ...figures };
}

/** A ledger that has `first` rows when it is read, and the others once the balance was. */
function unitsOf(rows: readonly LedgerEntry[], figures: UnitBalance, first = rows.length) {
  let visible = first;
  const units: Pick<UnitStore, 'balance' | 'ledger'> = {
    balance: async () => {
      visible = rows.length;
      return figures;
    },
    ledger: async ({ after, limit }) =>
      rows
        .slice(0, visible)
        .filter(({ sequence }) => sequence > after)
        .slice(0, limit),
  };
  return units;
}

async function differences(rows: readonly LedgerEntry[], figures = FIGURES): Promise<string[]> {
  const { differences: found } = await reconcileOne(unitsOf(rows, figures), 'acme');
  return found.map(({ sequence, what }) => `${sequence}: ${what}`);
}

function tampered(at: number, change: Partial<LedgerEntry>): LedgerEntry[] {
  return BOOKS.map((entry) => (entry.sequence === at ? { ...entry, ...change } : entry));
}

test('books in order have no difference, and their rows give every figure', async () => {
  const told = await reconcileOne(unitsOf(BOOKS, FIGURES), 'acme');
  expect(told).toMatchObject({ rows: 8, stored: FIGURES, computed: FIGURES, differences: [] });
});

test.each([
  ['units of a grant', tampered(1, { units: 11 }), /^1: a grant of 11 leaves 11 free, the row says 10/],
  ['the free units of a row', tampered(5, { balance: 9 }), /^5: .*leaves 8 free, the row says 9/],
  ['the held units of a row', tampered(6, { held: 1 }), /^6: .*leaves 2 held, the row says 1/],
  ['the rest of a capture', tampered(4, { released: 0 }), /^4: .*resolves 2 of a, which held 3/],
  [
    'the hold a capture belongs to',
    tampered(4, { subject: 'x' }),
    /^4: a capture of x, which is no open hold/,
  ],
  ['a row that is gone', BOOKS.filter(({ sequence }) => sequence !== 3), /^4: it follows 2: rows between/],
  ['a row below zero', tampered(8, { balance: -1 }), /^8: a figure is below zero/],
])('a changed ledger is named by its row: %s', async (_name, rows, expected) => {
  expect(await differences(rows)).toContainEqual(expect.stringMatching(expected));
});

test('a grant that was made twice, and a hold, are named', async () => {
  const again = [
    ...BOOKS,
    row(9, 'grant', 1, 'g', { balance: 8, held: 1 }),
    row(10, 'hold', 1, 'a', { balance: 7, held: 2 }),
  ];
  const found = await differences(again, { granted: 11, balance: 7, held: 2, spent: 2 });
  expect(found).toEqual(['9: there was a grant g before', '10: there was a hold a before']);
});

test.each(['granted', 'balance', 'held', 'spent'] as const)(
  'a stored figure that no row explains is named: %s',
  async (name) => {
    const found = await differences(BOOKS, { ...FIGURES, [name]: FIGURES[name] + 1 });
    expect(found).toContain(`null: ${name} is ${FIGURES[name] + 1}, the ledger gives ${FIGURES[name]}`);
    expect(found).toContainEqual(expect.stringMatching(/^null: granted \d+ is not balance/));
  },
);

test('rows that arrive while it reads are no difference: the figures are those after one of them', async () => {
  for (let at = 5; at <= BOOKS.length; at++) {
    const figures = [
      { granted: 10, balance: 8, held: 0, spent: 2 },
      { granted: 10, balance: 6, held: 2, spent: 2 },
      { granted: 10, balance: 8, held: 0, spent: 2 },
      FIGURES,
    ][at - 5];
    if (figures === undefined) throw new Error('a figure for every row');
    expect((await reconcileOne(unitsOf(BOOKS, figures, 4), 'acme')).differences, `row ${at}`).toEqual([]);
  }
});

test('figures that no row between the readings explains differ', async () => {
  const stored = { granted: 10, balance: 5, held: 3, spent: 2 };
  expect((await reconcileOne(unitsOf(BOOKS, stored, 4), 'acme')).differences).not.toEqual([]);
});
