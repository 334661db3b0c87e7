import { expect } from 'vitest';
import type { Reader } from '../../../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Chain } from '../../../../core/domain/chains.ts';
import type { JudgedRole } from '../../../../core/domain/data-quality.ts';
import { verdictPass } from '../../../../ingest/verdicts/pass.ts';
import { createRollups } from '../../../../src/operations/index-state/rollups.ts';
import { lookUpLists } from '../../../../src/operations/wallets/owners.ts';
import { type Profile, readProfile } from '../../../../src/operations/wallets/read-profile.ts';
import { readRefunds } from '../../../../src/operations/wallets/refunds.ts';
import { spanOf } from '../../../../src/operations/wallets/window.ts';
import { testClock } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, wallet } from '../../../kit/rows.ts';

/** A shop that was paid 20,000 times in 20 days, now and then by itself, and pays some of its payers back. */

const SHOP = wallet(0x51);
const ROWS = 20_000;
const DAYS = 20;
const DAY = 86_400;
const TODAY = NOON - DAY / 2;
/** Of so many newest rows it is judged, and it is not read whole. */
const BOUNDS = { scanRowsMax: 9_000, wholeRowsReadMax: 1 } as const;
const SPACING = (DAYS * DAY) / ROWS;

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(() => emptyTables(engine.writer));

function payment(at: number): Settlement {
  const other = wallet(0x1000 + (at % 390));
  const isBack = at % 41 === 0;
  const isSelf = at % 23 === 0;
  return settlement({
    chain: at % 5 === 0 ? POLYGON : BASE,
    blockTime: Math.floor(NOON - at * SPACING),
    blockNumber: 1_000_000 - at,
    payer: isBack || isSelf ? SHOP : other,
    payee: isBack && !isSelf ? other : SHOP,
    amountUsdMicros: BigInt(1_000 + at),
  });
}

const judgeAll = () =>
  verdictPass({
    writer: engine.writer,
    log: testLog,
    signal: new AbortController().signal,
    clock: testClock(),
    limits: { wholeRowsMax: ROWS / 2, newestRowsMax: BOUNDS.scanRowsMax },
  });

/** Of 30 days, and the statement that gave them. */
async function refundsOf(chain: Chain | undefined, { wholeRowsReadMax = 1, isFinal = false } = {}) {
  const asked: string[] = [];
  const reader: Reader = {
    ...engine.reader,
    rows: async (statement, signal) => {
      const answer = await engine.reader.rows(statement, signal);
      asked.push(statement.name);
      return answer;
    },
  };
  const rollups = createRollups({ reader: engine.reader, clock: testClock() });
  const refunds = await readRefunds(reader, {
    wallet: SHOP,
    chain,
    final: isFinal ? [{ chain: BASE, block: 1_000_000 }] : undefined,
    span: spanOf('30d', NOON + 1),
    coverage: isFinal ? { open: [{ from: 0, to: null }], splitDays: [] } : await rollups.coverage(),
    wholeRowsReadMax,
  });
  return { refunds, asked: asked.at(-1) };
}

interface Read {
  readonly profile: Profile;
  readonly rowsRead: ReadonlyMap<string, number>;
}

async function read(chain?: Chain, role: JudgedRole = 'payee', isFinal = false): Promise<Read> {
  const rowsRead = new Map<string, number>();
  const reader: Reader = {
    ...engine.reader,
    rows: async (statement, signal) => {
      const answer = await engine.reader.rows(statement, signal);
      rowsRead.set(statement.name, answer.readRows);
      return answer;
    },
  };
  const rollups = createRollups({ reader: engine.reader, clock: testClock() });
  const final = isFinal ? [{ chain: BASE, block: 999_000 } as const] : undefined;
  const profile = await readProfile(
    { reader, rollups, lists: lookUpLists(engine.reader, SHOP) },
    { wallet: SHOP, chain, final, role, nowSeconds: NOON, bounds: BOUNDS },
  );
  return { profile, rowsRead };
}

const SCANS = ['profile-scan-floor', 'profile-counterparties', 'profile-whole-wallet'];
const rowsOf = ({ rowsRead }: Read): number => [...rowsRead.values()].reduce((sum, one) => sum + one, 0);
const scansOf = ({ rowsRead }: Read): string[] => [...rowsRead.keys()].filter((name) => SCANS.includes(name));

test('after a pass of verdicts the profile of a busy wallet says the same, and reads its days and the rows of today', async () => {
  await insertSettlements(
    engine.writer,
    Array.from({ length: ROWS }, (_, at) => payment(at)),
  );
  await rollUp(engine.writer, { below: TODAY });
  const questions = [
    [undefined, 'payee'],
    [undefined, 'payer'],
    [BASE, 'payee'],
    [POLYGON, 'payee'],
  ] as const;
  const before = [];
  for (const [chain, role] of questions) {
    const asked = await read(chain, role);
    expect(asked.profile.scan).toMatchObject({ scannedAt: null });
    expect(scansOf(asked)).toContain('profile-scan-floor');
    expect(rowsOf(asked)).toBeGreaterThan(15_000);
    before.push(asked.profile);
  }
  await judgeAll();
  for (const [at, [chain, role]] of questions.entries()) {
    const asked = await read(chain, role);
    const { scan, ...profile } = asked.profile;
    expect({ ...profile, scan: { ...scan, scannedAt: null } }).toEqual(before[at]);
    expect(scan.scannedAt).toBe(NOON);
    expect(scansOf(asked)).toEqual([]);
    // Half a day has 500 settlements; whole granules of several parts and the days of both tables come on top.
    expect(rowsOf(asked)).toBeLessThan(7_500);
  }
}, 180_000);

test('what a busy wallet paid back is the same from its rows, from the days of its pairs and from the last pass', async () => {
  await insertSettlements(
    engine.writer,
    Array.from({ length: ROWS }, (_, at) => payment(at)),
  );
  await rollUp(engine.writer, { below: TODAY });
  const chains = [undefined, BASE, POLYGON] as const;
  const fromRows = await Promise.all(
    chains.map((chain) => refundsOf(chain, { wholeRowsReadMax: 10_000_000 })),
  );
  const fromPairs = await Promise.all(chains.map((chain) => refundsOf(chain)));
  await judgeAll();
  const kept = await Promise.all(chains.map((chain) => refundsOf(chain)));
  expect(fromRows[0]?.refunds.payers).toBeGreaterThan(100);
  expect(fromPairs).toEqual(fromRows);
  expect(kept).toEqual(fromRows.map(({ refunds }) => ({ refunds, asked: 'wallet-kept-refunds' })));
  expect(await refundsOf(BASE, { isFinal: true })).toEqual(fromRows[1]);
}, 180_000);

test('of final settlements alone, and before the first pass, the newest rows are read', async () => {
  await insertSettlements(
    engine.writer,
    Array.from({ length: ROWS }, (_, at) => payment(at)),
  );
  expect(scansOf(await read())).toContain('profile-scan-floor');
  await judgeAll();
  const final = await read(BASE, 'payee', true);
  expect(scansOf(final)).toContain('profile-scan-floor');
  expect(final.profile.scan.scannedAt).toBeNull();
}, 180_000);

test('a wallet that is not large is read from its rows', async () => {
  await insertSettlements(
    engine.writer,
    Array.from({ length: 40 }, (_, at) => payment(at)),
  );
  await judgeAll();
  const asked = await read();
  expect(asked.profile.scan.scannedAt).toBeNull();
  expect(asked.profile.totals.inbound.count).toBeGreaterThan(30);
});
