import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import {
  agentEvent,
  attestation,
  insertAgentEvents,
  insertAttestations,
  NO_WALLET,
} from '../../kit/registry-rows.ts';
import { BASE, POLYGON, wallet } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** The public tables agents and attestations, read as the guest. */

let engine: SandboxEngine;

const CLIENT = wallet(0xc1);
const kept = attestation({ agentId: 1n, value: 45n, valueDecimals: 1, tag1: 'quality', uri: 'ipfs://file' });
const taken = attestation({ agentId: 1n, feedbackIndex: 2n, value: -7n, logIndex: 1 });
const revocation = attestation({ agentId: 1n, kind: 'revocation', feedbackIndex: 2n, blockNumber: 2_001 });
const response = attestation({
  agentId: 1n,
  kind: 'response',
  author: wallet(0xd1),
  blockNumber: 2_002,
  uri: 'https://answer.example',
});
const requested = attestation({
  agentId: 1n,
  kind: 'validation_request',
  author: wallet(0xe1),
  client: NO_WALLET,
  blockNumber: 2_003,
});
const validated = attestation({
  agentId: 1n,
  kind: 'validation_response',
  author: wallet(0xe1),
  client: NO_WALLET,
  value: 88n,
  blockNumber: 2_004,
});
const undone = attestation({ agentId: 2n, blockNumber: 2_010 });

beforeAll(async () => {
  engine = await sandboxEngine();
  const { writer } = engine;
  await registerAgent(writer, {
    agentId: 1n,
    card: { name: 'Weather', description: 'By the call', x402Support: true },
  });
  await registerAgent(writer, { agentId: 2n, chain: POLYGON, uri: '' });
  await insertAgentEvents(writer, [
    agentEvent({ agentId: 2n, chain: POLYGON, kind: 'wallet_set', account: NO_WALLET, blockNumber: 1_500 }),
  ]);
  await insertAttestations(writer, [kept, taken, revocation, response, requested, validated, undone]);
  await insertAttestations(writer, [undone], 1);
  await deriveAll(writer);
});
afterAll(() => engine?.close());

const asGuest = (text: string) => engine.guest.explain({ name: 'view', text, maxSeconds: 10 });

describe('agents', () => {
  test('are there with their card, wallet and score; unknown values are NULL', async () => {
    const rows = await asGuest(
      `SELECT chain, toString(agent_id), owner, wallet, name, description, x402_support, active, score, toString(feedback_count)
       FROM agents ORDER BY chain`,
    );
    expect(rows).toEqual([
      [POLYGON, '2', wallet(0xa1), null, null, null, false, null, null, '0'],
      [BASE, '1', wallet(0xa1), wallet(0xa1), 'Weather', 'By the call', true, true, 42.416666666666664, '1'],
    ]);
  });
});

describe('attestations', () => {
  test('are there with their values, who wrote them and whether they were revoked', async () => {
    const rows = await asGuest(
      'SELECT kind, author, value, tag1, uri, revoked FROM attestations WHERE agent_id = 1 ORDER BY block_time, log_index',
    );
    expect(rows).toEqual([
      ['feedback', CLIENT, 4.5, 'quality', 'ipfs://file', false],
      ['feedback', CLIENT, -7, null, null, true],
      ['revocation', CLIENT, null, null, null, false],
      ['response', wallet(0xd1), null, null, 'https://answer.example', false],
      ['validation_request', wallet(0xe1), null, null, null, false],
      ['validation_response', wallet(0xe1), 88, null, null, false],
    ]);
  });

  test('that a reorg took back are gone', async () => {
    expect(await asGuest('SELECT toString(count()) FROM attestations WHERE agent_id = 2')).toEqual([['0']]);
  });

  test('join their agents', async () => {
    const rows = await asGuest(
      `SELECT a.name, count() FROM attestations AS t JOIN agents AS a ON a.chain = t.chain AND a.agent_id = t.agent_id
       WHERE t.kind = 'feedback' AND NOT t.revoked GROUP BY a.name`,
    );
    expect(rows).toEqual([['Weather', '1']]);
  });
});
