import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainConfig } from '../../../../core/config/chains.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { address } from '../../../../core/domain/account.ts';
import { type DemoChain, startDemoChain } from '../../../../demo/chain/anvil.ts';
import { callBatch, MULTICALL3, mintUsdc, USDC } from '../../../../demo/chain/deploy-usdc.ts';
import { authorizeWillingly, callTransferBytes } from '../../../../demo/chain/payments.ts';
import { installWillingPayers } from '../../../../demo/chain/permit2.ts';
import { mine, walletOf } from '../../../../demo/chain/sender.ts';
import type { BlockReader } from '../../../../ingest/chain/block-source.ts';
import { createHistorySource } from '../../../../ingest/chain/history-source.ts';
import { createPortalSource } from '../../../../ingest/chain/portal/source.ts';
import { createRpcSource } from '../../../../ingest/chain/source.ts';
import { rowsOfBatch } from '../../../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../../../ingest/decode/context.ts';
import { logFilterOf } from '../../../../ingest/decode/log-kind.ts';
import { encodeBatch } from '../../../../ingest/write/batch-rows.ts';
import { testLog } from '../../../kit/engine.ts';
import { type LyingPortal, startLyingPortal } from '../../../kit/lying-portal.ts';
import { catalogueWith } from '../../../kit/regrade-world.ts';

/** What lands in the tables may not depend on the source that it was read from. */

const willing = walletOf('willing payer').address;
const seller = address('0x00000000000000000000000000000000000a5e11');
const FROM = 2;
let chain: DemoChain;
let portal: LyingPortal;
let config: ChainConfig;
let to = 0;

beforeAll(async () => {
  chain = await startDemoChain({ slotsInAnEpoch: 1 });
  await installWillingPayers(chain.rpc, [willing]);
  await mintUsdc(chain.sender, [{ to: willing, amount: 10n ** 12n }]);
  await mine(chain.rpc);
  const relayer = walletOf('relayer 1').address;
  const payment = (value: bigint) => callTransferBytes(authorizeWillingly(willing, { to: seller, value }));
  for (let block = 0; block < 40; block++) {
    if (block % 4 === 1) await chain.sender.sendAll([{ from: relayer, to: USDC, data: payment(7n) }]);
    if (block % 4 === 2)
      await chain.sender.sendAll([
        { from: relayer, to: MULTICALL3, data: callBatch(USDC, [payment(1n), payment(2n), payment(3n)]) },
      ]);
    // A bare transfer to a payee of the catalogue: its transaction comes with a request of its own.
    if (block % 4 === 3) await mintUsdc(chain.sender, [{ to: seller, amount: 9n }]);
    await mine(chain.rpc);
  }
  to = Number(await chain.rpc.call<string>('eth_blockNumber')) - 5;
  portal = await startLyingPortal({ rpc: chain.rpc, blocksPerAnswer: 13 });
  const [known] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (known === undefined) throw new Error('Base Sepolia is built in');
  config = { ...known, rpcUrls: [chain.url], requestsPerSecond: 100_000 };
});
afterAll(async () => {
  await portal?.stop();
  await chain?.stop();
});

async function rowsFrom(source: BlockReader): Promise<ReadonlyMap<string, string>> {
  const catalogue = catalogueWith();
  const context = {
    ...decodeContextOf(config, catalogue),
    isCataloguedPayee: (payee: string) => payee === seller,
  };
  const batch = await source.read(FROM, to, logFilterOf(context));
  const { pieces } = await encodeBatch(rowsOfBatch(batch, context, catalogue));
  return new Map(
    [...pieces].map(([{ table }, parts]) => [
      table,
      parts.map((part) => Buffer.from(part.at(1n)).toString('hex')).join(''),
    ]),
  );
}

const rpcSource = () => createRpcSource(config, { log: testLog });
const portalSource = (url: string, limits = {}) =>
  createPortalSource(
    { ...config, portalUrl: url, dataset: 'base-sepolia', requestsPer10Seconds: 1_000_000 },
    { log: testLog, limits },
  );

test.each(['every-block', 'settlement-blocks'] as const)(
  'with completeness %s the rows from the Portal and over JSON-RPC are the same, byte for byte',
  async (completeness) => {
    config = { ...config, completeness };
    const told = await rowsFrom(rpcSource());
    expect(told.get('settlements')?.length).toBeGreaterThan(5_000);
    expect(await rowsFrom(portalSource(portal.url))).toEqual(told);
  },
);

test('where the Portal refuses, the rows are those that the node gives, and later the Portal’s again', async () => {
  const told = await rowsFrom(rpcSource());
  const history = createHistorySource({
    portal: portalSource(portal.url, { backOffFirstMs: 1, backOffMaxMs: 5 }),
    rpc: rpcSource(),
    log: testLog,
    rests: { firstMs: 1, maxMs: 1 },
  });
  portal.refuse(503);
  expect(await rowsFrom(history)).toEqual(told);
  portal.refuse(null);
  const before = portal.asked.length;
  expect(await rowsFrom(history)).toEqual(told);
  expect(portal.asked.length).toBeGreaterThan(before);
});
