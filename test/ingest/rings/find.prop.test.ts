import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findRings, type Ring, type RingLimits } from '../../../ingest/rings/find.ts';
import { byStrength, compareText, type PaymentEdge } from '../../../ingest/rings/graph.ts';

const WIDE: RingLimits = {
  degreeMax: 1_000,
  ringsPerWalletMax: 100_000,
  stepsMax: 10_000_000,
  stepsPerTurn: 50,
};

const WALLETS = 8;

/** At most one edge for each ordered pair, self-payments among them; few amounts, so that many are equal. */
const graphs: fc.Arbitrary<PaymentEdge[]> = fc
  .uniqueArray(fc.record({ from: fc.nat(WALLETS - 1), to: fc.nat(WALLETS - 1), usd: fc.bigInt(1n, 6n) }), {
    selector: ({ from, to }) => from * WALLETS + to,
    maxLength: 45,
  })
  .map((edges) => edges.map(({ from, to, usd }) => ({ payer: `w${from}`, payee: `w${to}`, usdMicros: usd })));

/** Every sequence of two to four different wallets, smallest first, whose payments all exist. */
function bruteForce(edges: readonly PaymentEdge[]): Ring[] {
  const paid = new Map(edges.map((edge) => [`${edge.payer} ${edge.payee}`, edge.usdMicros]));
  const wallets = Array.from({ length: WALLETS }, (_, number) => `w${number}`);
  const rings: Ring[] = [];
  const extend = (members: readonly string[]): void => {
    if (members.length >= 2) rings.push(...ringOf(paid, members));
    if (members.length === 4) return;
    for (const next of wallets) {
      if (!members.includes(next) && next > (members[0] ?? '')) extend([...members, next]);
    }
  };
  for (const wallet of wallets) extend([wallet]);
  return rings;
}

function smaller(a: bigint, b: bigint): bigint {
  return b < a ? b : a;
}

function ringOf(paid: ReadonlyMap<string, bigint>, members: readonly string[]): Ring[] {
  const sums = members.map((payer, at) => paid.get(`${payer} ${members[(at + 1) % members.length]}`));
  const known = sums.filter((sum) => sum !== undefined);
  if (known.length < members.length) return [];
  return [
    {
      members,
      bottleneckUsdMicros: known.reduce(smaller),
      ringUsdMicros: known.reduce((total, sum) => total + sum, 0n),
    },
  ];
}

const keyOf = ({ members }: Ring): string => members.join(' ');
const sorted = (rings: readonly Ring[]): Ring[] => [...rings].sort((a, b) => compareText(keyOf(a), keyOf(b)));

describe('findRings', () => {
  test('finds exactly the cycles of two, three and four wallets, each once, with exact sums', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async (edges) => {
        const expected = bruteForce(edges);
        const found = await findRings(edges, WIDE);
        expect(found.ringCount).toBe(expected.length);
        expect(found.capped).toEqual([]);
        for (let number = 0; number < WALLETS; number++) {
          const wallet = `w${number}`;
          const own = expected.filter(({ members }) => members.includes(wallet));
          expect(sorted(found.byWallet.get(wallet) ?? [])).toEqual(sorted(own));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the order of the edges changes nothing', async () => {
    const shuffled = graphs.chain((edges) =>
      fc.tuple(fc.constant(edges), fc.shuffledSubarray(edges, { minLength: edges.length })),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, fc.integer({ min: 1, max: 4 }), async ([edges, other], degreeMax) => {
        const limits = { ...WIDE, degreeMax, ringsPerWalletMax: 2 };
        expect(await findRings(other, limits)).toEqual(await findRings(edges, limits));
      }),
    );
  });

  test('a wallet keeps its strongest rings, and the limit is reported', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.integer({ min: 1, max: 4 }), async (edges, ringsPerWalletMax) => {
        const all = await findRings(edges, WIDE);
        const few = await findRings(edges, { ...WIDE, ringsPerWalletMax });
        expect([...few.byWallet.keys()]).toEqual([...all.byWallet.keys()]);
        for (const [wallet, rings] of all.byWallet) {
          expect(few.byWallet.get(wallet)).toEqual(rings.slice(0, ringsPerWalletMax));
          const strengths = rings.map(({ bottleneckUsdMicros }) => bottleneckUsdMicros);
          expect(strengths).toEqual([...strengths].sort((a, b) => (a < b ? 1 : -Number(a > b))));
        }
        const isCut = [...all.byWallet.values()].some((rings) => rings.length > ringsPerWalletMax);
        expect(few.capped).toEqual(isCut ? ['rings_per_wallet'] : []);
      }),
    );
  });

  test('the limit is reported also when the weaker ring comes last', async () => {
    const both = (one: string, other: string, usdMicros: bigint): PaymentEdge[] => [
      { payer: one, payee: other, usdMicros },
      { payer: other, payee: one, usdMicros },
    ];
    const edges = [...both('w0', 'w1', 9n), ...both('w0', 'w2', 1n)];
    const found = await findRings(edges, { ...WIDE, ringsPerWalletMax: 1 });
    expect(found.byWallet.get('w0')?.map(keyOf)).toEqual(['w0 w1']);
    expect(found.capped).toEqual(['rings_per_wallet']);
  });

  test('under a degree limit it finds the rings of the strongest edges, and says so', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.integer({ min: 1, max: 3 }), async (edges, degreeMax) => {
        const truth = new Set(bruteForce(edges).map(keyOf));
        const found = await findRings(edges, { ...WIDE, degreeMax });
        const keys = new Set([...found.byWallet.values()].flat().map(keyOf));
        expect([...keys].filter((key) => !truth.has(key))).toEqual([]);
        if (found.capped.length === 0) expect(keys.size).toBe(truth.size);
      }),
    );
  });

  test('a search that would walk too far ends and says so', async () => {
    const edges = [...Array(WALLETS).keys()].flatMap((from) =>
      [...Array(WALLETS).keys()].map((to) => ({ payer: `w${from}`, payee: `w${to}`, usdMicros: 1n })),
    );
    const found = await findRings(edges, { ...WIDE, stepsMax: 60 });
    expect(found.capped).toEqual(['steps']);
    expect(found.ringCount).toBeLessThan(bruteForce(edges).length);
  });

  test('other work of the process gets its turn during a long search', async () => {
    const edges = [...Array(60).keys()].flatMap((from) =>
      [...Array(60).keys()].map((to) => ({ payer: `w${from}`, payee: `w${to}`, usdMicros: 1n })),
    );
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
    }, 0);
    await findRings(edges, { ...WIDE, ringsPerWalletMax: 4, stepsPerTurn: 1_000 });
    clearInterval(other);
    expect(turns).toBeGreaterThan(3);
  });

  test('a chain of payments without a ring costs no more than its length', async () => {
    const length = 50_000;
    const name = (number: number): string => String(number).padStart(6, '0');
    const edges = Array.from({ length }, (_, at) => ({
      payer: name(at),
      payee: name(at + 1),
      usdMicros: 1n,
    }));
    expect((await findRings(edges, WIDE)).ringCount).toBe(0);
    const back = { payer: name(length), payee: name(length - 1), usdMicros: 1n };
    const found = await findRings([back, ...edges], { ...WIDE, degreeMax: 1 });
    expect([...found.byWallet.keys()]).toEqual([name(length - 1), name(length)]);
    expect(found.capped).toEqual([]);
  }, 20_000);

  test('an aborted search ends', async () => {
    const edges = [...Array(30).keys()].flatMap((from) =>
      [...Array(30).keys()].map((to) => ({ payer: `w${from}`, payee: `w${to}`, usdMicros: 1n })),
    );
    await expect(findRings(edges, { ...WIDE, stepsPerTurn: 1 }, AbortSignal.abort())).rejects.toThrow(
      'aborted',
    );
  });

  test('strength is a total order', () => {
    const one = { payer: 'a', payee: 'b', usdMicros: 5n };
    expect(byStrength(one, { ...one })).toBe(0);
    expect(byStrength(one, { ...one, payee: 'c' })).toBe(-1);
    expect(byStrength(one, { ...one, usdMicros: 6n })).toBe(1);
  });
});
