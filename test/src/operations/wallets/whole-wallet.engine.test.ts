import { expect } from 'vitest';
import type { Address } from '../../../../core/domain/account.ts';
import {
  NOBODY_SCANNED,
  readSmallWallet,
  readWholeWallet,
} from '../../../../src/operations/wallets/read-profile.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { insertSettlements, NOON, settlement, wallet } from '../../../kit/rows.ts';

/** A shop with 40 payers, one of them twice. That the figures are right is proven in test/src/operations/wallets/profile.engine.test.ts. */

const SHOP = wallet(0x51);
const PAYERS = 40;
/** The rows of the shop are half of its granules: the payers have theirs. */
const ROWS_OF_SHOP = PAYERS + 1;

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await insertSettlements(
    engine.writer,
    Array.from({ length: ROWS_OF_SHOP }, (_, index) =>
      settlement({
        blockNumber: 1_000 + index,
        blockTime: NOON + index,
        payer: wallet(0x100 + (index % PAYERS)),
        payee: SHOP,
        amountUsdMicros: 1_000_000n,
      }),
    ),
  );
});

function queryOf(address: Address) {
  return { wallet: address, chain: undefined, final: undefined, role: 'payee', chartFrom: NOON } as const;
}

test('a wallet within the bound is read whole', async () => {
  const small = await readSmallWallet(engine.reader, queryOf(SHOP));
  expect(small?.totals.inbound).toMatchObject({ count: ROWS_OF_SHOP, usdMicros: 41_000_000n });
  expect(small?.scan).toMatchObject({ settlements: ROWS_OF_SHOP, counterparties: PAYERS });
  expect(small).toEqual(await readWholeWallet(engine.reader, queryOf(SHOP)));
});

test('more rows than the bound in the granules of a wallet: no figures and no failure', async () => {
  const within = (wholeRowsReadMax: number) => ({ ...queryOf(SHOP), wholeRowsReadMax });
  expect(await readSmallWallet(engine.reader, within(ROWS_OF_SHOP))).toBeNull();
  expect(await readSmallWallet(engine.reader, within(2 * ROWS_OF_SHOP))).not.toBeNull();
});

test('a wallet that the index never saw has nothing', async () => {
  const nobody = await readSmallWallet(engine.reader, queryOf(wallet(0xdead)));
  expect(nobody?.scan).toEqual(NOBODY_SCANNED);
  const nothing = { count: 0, usdMicros: 0n, selfCount: 0, selfUsdMicros: 0n, provenUsdMicros: 0n };
  expect(nobody?.totals).toMatchObject({
    inbound: nothing,
    outbound: nothing,
    chains: [],
    firstSeen: null,
    lastSeen: null,
  });
});
