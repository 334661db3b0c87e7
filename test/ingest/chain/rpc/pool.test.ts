import { expect, test } from 'vitest';
import { chainOf } from '../../../../core/domain/chains.ts';
import type { RpcEndpoint, RpcOutcome } from '../../../../ingest/chain/rpc/endpoint.ts';
import { ProviderContradiction, RpcFailure } from '../../../../ingest/chain/rpc/failure.ts';
import { RPC_LIMITS } from '../../../../ingest/chain/rpc/limits.ts';
import { createPool } from '../../../../ingest/chain/rpc/pool.ts';
import { EVM_IDENTITY } from '../../../../ingest/chain/source.ts';
import { testLog } from '../../../kit/engine.ts';

const CHAIN_ID = 8453;
const limits = { ...RPC_LIMITS, backOffFirstMs: 10_000, backOffMaxMs: 10_000 };

/** Two nodes; each answers with its name, unless it has to fail the next question. */
function twoNodes() {
  const asked: string[] = [];
  const failing = new Set<string>();
  const told: string[] = [];
  const node = (name: string): RpcEndpoint => ({
    name,
    exchange: async (calls) =>
      calls.map(({ method }): RpcOutcome => {
        if (method === 'eth_chainId') return { result: `0x${CHAIN_ID.toString(16)}` };
        asked.push(name);
        return failing.delete(name) ? { failure: new RpcFailure('busy', 'later', 1) } : { result: name };
      }),
  });
  const pool = createPool({
    endpoints: [node('one'), node('two')],
    chain: chainOf(CHAIN_ID),
    identity: EVM_IDENTITY,
    limits,
    log: testLog,
    signal: undefined,
    onRetry: (trouble, provider) => {
      if (trouble instanceof ProviderContradiction) told.push(provider);
    },
  });
  const ask = () => pool.ask({ method: 'eth_any', params: [], read: (result) => ({ from: String(result) }) });
  return { pool, ask, asked, failing, told };
}

const contradiction = new ProviderContradiction('broken-link', 'two blocks do not link');

test('the node that gave an answer is distrusted, although the turn has passed to another since', async () => {
  const { pool, ask, failing, told } = twoNodes();
  const answer = await ask();
  expect(answer.from).toBe('one');
  failing.add('one');
  expect((await ask()).from).toBe('two');
  pool.distrust(contradiction, [answer]);
  expect(told).toEqual(['one']);
  for (let again = 0; again < 3; again++) expect((await ask()).from).toBe('two');
});

test('a flaw counts against the node that gave the answer', async () => {
  const { pool, ask, failing, told } = twoNodes();
  const answer = await ask();
  failing.add('one');
  await ask();
  pool.note(contradiction, answer);
  expect(told).toEqual(['one']);
});

test('of two nodes whose answers contradict each other both are distrusted', async () => {
  const { pool, ask, failing, told } = twoNodes();
  const one = await ask();
  failing.add('one');
  const two = await ask();
  pool.distrust(contradiction, [one, two]);
  expect(told).toEqual(['one, two']);
});
