import { expect, test } from 'vitest';
import type { UnitBalance } from '../../../../core/domain/plan.ts';
import type { LedgerEntry, UnitStore } from '../../../../src/accounts/unit-store.ts';
import { reconcileAll, reconcileOne } from '../../../../src/operate/admin/reconcile.ts';

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

const PAYMENT = { chain: 'eip155:84532', asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', payer: '0xbb' };
const SHARE = { organizationId: 'acme', units: 2, runUnits: 1, note: '', earnedBy: 'callSavedQuery' };

/** A payment of three units by its amount, and a hold of another organization with three captured units. */
async function unpaidShare(subject: string, units: number, record: object | null): Promise<string[]> {
  const grant = row(1, 'grant', units, subject, { balance: units, held: 0 });
  const buyer = [
    row(1, 'grant', 9, 'g', { balance: 9, held: 0 }),
    row(2, 'hold', 3, 'h', { balance: 6, held: 3 }),
    row(3, 'capture', 3, 'h', { balance: 6, held: 0 }),
  ];
  const books = { acme: unitsOf([grant], { granted: units, balance: units, held: 0, spent: 0 }) };
  const others = unitsOf(buyer, { granted: 9, balance: 6, held: 0, spent: 3 });
  const of = (id: string) => (id === 'acme' ? books.acme : others);
  const store = {
    accounts: {
      listOrganizations: async ({ after }: { readonly after: string | null }) =>
        after === null ? [{ id: 'acme' }, { id: 'buyer' }] : [],
    },
    units: {
      balance: (id: string) => of(id).balance(id),
      ledger: (page: Parameters<UnitStore['ledger']>[0]) => of(page.organizationId).ledger(page),
    },
    payments: { find: async () => record },
  } as unknown as Parameters<typeof reconcileAll>[0]; // what reconciling reads
  const found = await reconcileAll(store, [{ id: 'acme' }, { id: 'buyer' }]);
  return found.flatMap(({ organization, differences }) =>
    differences.map(({ what }) => `${organization}: ${what}`),
  );
}

const SOLD = `sale:${[PAYMENT.chain, PAYMENT.asset, PAYMENT.payer, 'permit2:0x01'].join(':')}`;
const SETTLED = {
  id: PAYMENT,
  state: 'settled',
  amount: '30000',
  sale: { units: 3, sold: null, share: SHARE },
};

test.each<[string, string, number, object | null, RegExp | null]>([
  ['what settled', SOLD, 2, SETTLED, null],
  ['what settled, without what was sold', SOLD, 2, { ...SETTLED, sale: null }, null],
  ['more than settled', SOLD, 3, SETTLED, /^acme: .* 3 units beside 1 of the run, and 3 were paid for/],
  [
    'more than its amount, whatever its claim says',
    SOLD,
    9,
    { ...SETTLED, sale: { units: 99, share: SHARE } },
    /^acme: .* 3 were/,
  ],
  ['a payment that did not settle', SOLD, 2, { ...SETTLED, state: 'settling' }, /^acme: .*did not settle/],
  ['no payment', SOLD, 2, null, /^acme: .*no such payment/],
  [
    'a payment for another author',
    SOLD,
    2,
    { ...SETTLED, sale: { units: 3, share: { ...SHARE, organizationId: 'x' } } },
    /^acme: .*names x/,
  ],
  ['a hold that was captured', 'sale:h', 2, null, null],
  ['more than was captured', 'sale:h', 3, null, /^acme: .* 3 were captured/],
  ['a hold that never was', 'sale:i', 1, null, /^acme: .* 0 were captured/],
])('a share is held against what paid for it: %s', async (_what, subject, units, record, expected) => {
  const found = await unpaidShare(subject, units, record);
  if (expected === null) expect(found).toEqual([]);
  else expect(found).toEqual([expect.stringMatching(expected)]);
});
