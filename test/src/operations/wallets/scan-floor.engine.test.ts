import { expect } from 'vitest';
import type { Chain } from '../../../../core/domain/chains.ts';
import { readScanFloor } from '../../../../src/operations/wallets/read-profile.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, wallet } from '../../../kit/rows.ts';

/** A wallet paid once a second, forty times on one chain and before that three times on another. */

const SHOP = wallet(0x51);
const BUSY_ROWS = 40;
const RARE_ROWS = 3;

let engine: TestEngine;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await insertSettlements(
    engine.writer,
    Array.from({ length: BUSY_ROWS + RARE_ROWS }, (_, index) =>
      settlement({
        chain: index < BUSY_ROWS ? BASE : POLYGON,
        blockNumber: 1_000 - index,
        blockTime: NOON - index,
        payer: wallet(0x100 + index),
        payee: SHOP,
      }),
    ),
  );
});

function floorOf(chain: Chain | undefined, rowsMax: number): Promise<number | null> {
  return readScanFloor(engine.reader, { wallet: SHOP, chain, final: undefined }, rowsMax);
}

test.each([
  { rows: 'all rows fit', chain: undefined, rowsMax: 43, floor: null },
  { rows: 'one row too many', chain: undefined, rowsMax: 42, floor: NOON - 42 },
  { rows: 'one row of the chain too many', chain: BASE, rowsMax: 39, floor: NOON - 39 },
  { rows: 'a rare chain within reach', chain: POLYGON, rowsMax: 11, floor: null },
  { rows: 'a rare chain far beyond the bound', chain: POLYGON, rowsMax: 2, floor: NOON - 8 },
  { rows: 'a rare chain beyond four times the bound', chain: POLYGON, rowsMax: 10, floor: NOON - 40 },
])('$rows: the scan stays above $floor', async ({ chain, rowsMax, floor }) => {
  expect(await floorOf(chain, rowsMax)).toBe(floor);
});
