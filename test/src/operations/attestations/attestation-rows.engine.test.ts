import { describe, expect } from 'vitest';
import { sql } from '../../../../clickhouse/engine/sql.ts';
import type { Attestation } from '../../../../clickhouse/tables/registries.ts';
import { type FeedbackOutcome, saveFeedback } from '../../../../ingest/agents/feedback/row.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import { type TestApi, testApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import { attestation, insertAttestations } from '../../../kit/registry-rows.ts';
import {
  BASE,
  hash,
  insertSettlements,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** What a row of /attestations says, also of the file that feedback names and of the payment that this names. */

let engine: TestEngine;
let api: TestApi;

type Answer = Record<string, unknown>;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyIdentityTables(engine.writer);
  await engine.writer.run({ name: 'test-empty', sql: sql`TRUNCATE TABLE settlements`, maxSeconds: 10 });
});

async function page(query = ''): Promise<Answer[]> {
  const { status, body, text } = await api.get(`/v0/attestations${query}`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body.attestations;
}

describe('a row', () => {
  test('of feedback carries what was given, to the digit, and whether it was revoked', async () => {
    await registerAgent(engine.writer, { agentId: 7n, card: { name: 'Weather' } });
    const given = { agentId: 7n, client: wallet(0xc1), fileHash: hash(5) };
    await insertAttestations(engine.writer, [
      attestation({
        ...given,
        blockNumber: 1_400,
        feedbackIndex: 1n,
        value: -925n,
        valueDecimals: 1,
        tag1: 'starred',
      }),
      attestation({
        ...given,
        blockNumber: 1_401,
        feedbackIndex: 2n,
        value: 2n ** 127n - 1n,
        valueDecimals: 18,
      }),
      attestation({ ...given, blockNumber: 1_600, feedbackIndex: 1n, kind: 'revocation', fileHash: hash(0) }),
    ]);
    // Neither another client's revocation, nor one about another agent or chain, nor one that was taken back.
    const others = [
      attestation({
        agentId: 7n,
        client: wallet(0xc2),
        feedbackIndex: 2n,
        kind: 'revocation',
        blockNumber: 1_601,
      }),
      attestation({
        agentId: 8n,
        client: wallet(0xc1),
        feedbackIndex: 2n,
        kind: 'revocation',
        blockNumber: 1_602,
      }),
      attestation({ ...given, chain: POLYGON, feedbackIndex: 2n, kind: 'revocation', blockNumber: 1_603 }),
    ];
    const undone = attestation({ ...given, feedbackIndex: 2n, kind: 'revocation', blockNumber: 1_604 });
    await insertAttestations(engine.writer, [...others, undone]);
    await insertAttestations(engine.writer, [undone], 1);
    await deriveAll(engine.writer);
    const [exact, negative] = await page('?kind=feedback');
    expect(negative).toEqual({
      chain: BASE,
      agent_id: '7',
      agent_name: 'Weather',
      kind: 'feedback',
      author: wallet(0xc1),
      client: wallet(0xc1),
      feedback_index: '1',
      value: -92.5,
      value_raw: '-925',
      value_decimals: 1,
      tag1: 'starred',
      tag2: null,
      is_rating: false,
      tag_score: null,
      endpoint: null,
      uri: null,
      file_hash: hash(5),
      request_hash: null,
      revoked: true,
      file: null,
      comment: null,
      proof_of_payment: null,
      block_number: 1_400,
      block_time: '2026-11-20T12:13:20Z',
      tx_hash: hash(14_000_001),
      log_index: 0,
      finality: 'finalized',
    });
    expect(exact).toMatchObject({
      value: Number('170141183460469231731.687303715884105727'),
      value_raw: '170141183460469231731687303715884105727',
      value_decimals: 18,
      revoked: false,
    });
    const [revocation] = await page('?kind=revocation&agent_id=7');
    expect(revocation).toMatchObject({ value: null, value_raw: null, value_decimals: null, revoked: null });
  });

  test('of a validation names its request, and no client', async () => {
    const asked = { kind: 'validation_response', client: wallet(0), feedbackIndex: 0n, value: 88n } as const;
    await insertAttestations(engine.writer, [
      attestation({ ...asked, author: wallet(0xe1), requestHash: hash(9) }),
    ]);
    expect((await page())[0]).toMatchObject({
      author: wallet(0xe1),
      client: null,
      feedback_index: null,
      value: 88,
      request_hash: hash(9),
      agent_name: null,
      finality: 'head',
    });
  });

  test('shows strangers’ texts without what could harm a page', async () => {
    const dataUri = `data:application/json,${'x'.repeat(60_000)}`;
    await insertAttestations(engine.writer, [
      attestation({
        tag1: 'p\u0430ypal',
        tag2: '\u202egnp.exe\u0000\u200b',
        endpoint: 'https://shop.example/\u001b[31m\u2066pay',
        uri: dataUri,
      }),
      attestation({ logIndex: 1, tag1: '\u200b', uri: `https://long.example/${'y'.repeat(5_000)}` }),
    ]);
    const [long, hostile] = await page();
    expect(hostile).toMatchObject({
      tag1: 'p{U+0430}ypal',
      tag2: 'gnp.exe',
      endpoint: 'https://shop.example/[31mpay',
      uri: `${dataUri.slice(0, 255)}\u2026`,
    });
    expect(long).toMatchObject({
      tag1: null,
      uri: expect.stringMatching(/^https:\/\/long\.example\/y+\u2026$/),
    });
    expect(String(long?.['uri']).length).toBe(2_048);
    // The filter knows the tag as it was logged.
    const tag = encodeURIComponent('p\u0430ypal');
    expect(await page(`?tag=${tag}`)).toHaveLength(1);
    expect(await page('?tag=paypal')).toEqual([]);
  });
});

describe('a file of feedback', () => {
  const TX = hash(42);
  const PROOF = { chain: BASE, txHash: TX, from: wallet(0xc1), to: wallet(0xb2) };
  const GOOD: FeedbackOutcome = {
    status: 'good',
    problem: '',
    failures: 0,
    nextTryAt: 0,
    hashMatches: true,
    comment: '',
    commentRule: 1,
    proof: PROOF,
  };
  const rated = attestation({ uri: 'ipfs://file', fileHash: hash(5) });

  /** As the queue writes what came of fetching. */
  async function fetched(log: Attestation, outcome: Partial<FeedbackOutcome>): Promise<void> {
    await saveFeedback(engine.writer, [
      [
        { ...log, failures: 0, ver: nextVer() },
        { ...GOOD, ...outcome },
      ],
    ]);
    nextVer();
  }

  async function rate(log: Attestation, outcome: Partial<FeedbackOutcome>): Promise<Answer> {
    await insertAttestations(engine.writer, [log]);
    await fetched(log, outcome);
    const [row] = await page();
    return row ?? {};
  }

  const paid = settlement({
    txHash: TX,
    payer: PROOF.from,
    payee: PROOF.to,
    logIndex: 3,
    amountUsdMicros: 10_500n,
  });

  test('is new until it was tried, and tells why it could not be read', async () => {
    await insertAttestations(engine.writer, [rated]);
    expect((await page())[0]).toMatchObject({
      file: { status: 'new', problem: null, hash_matches: null },
      proof_of_payment: null,
    });
    await fetched(rated, { status: 'failed', problem: 'timeout', hashMatches: false, proof: null });
    expect((await page())[0]).toMatchObject({
      file: { status: 'failed', problem: 'timeout', hash_matches: null },
      proof_of_payment: null,
    });
  });

  test('proves a payment when the settlement is in the index, whichever comes first', async () => {
    const unknown = await rate(rated, {});
    expect(unknown['proof_of_payment']).toEqual({
      chain: BASE,
      tx_hash: TX,
      from: PROOF.from,
      to: PROOF.to,
      status: 'unknown',
      settlement: null,
    });
    const second = { ...paid, logIndex: 9, amount: 77n };
    await insertSettlements(engine.writer, [second, paid, settlement({ txHash: TX, logIndex: 4 })]);
    const [row] = await page();
    expect(row).toMatchObject({
      file: { status: 'good', problem: null, hash_matches: true },
      proof_of_payment: {
        status: 'proven',
        settlement: { log_index: 3, amount: '10000', amount_usd: 0.0105, payer: PROOF.from, payee: PROOF.to },
      },
    });
  });

  test('proves nothing any more when a reorg takes the payment back, or regrades it away', async () => {
    await insertSettlements(engine.writer, [paid]);
    expect(await rate(rated, {})).toMatchObject({ proof_of_payment: { status: 'proven' } });
    await tombstone(engine.writer, [paid]);
    expect((await page())[0]).toMatchObject({
      proof_of_payment: { status: 'unknown', settlement: null },
    });
    // Another transaction stands in its place now.
    await insertSettlements(engine.writer, [{ ...paid, txHash: hash(43) }]);
    expect((await page())[0]).toMatchObject({ proof_of_payment: { status: 'unknown' } });
  });

  test.each([
    ['the payer is another', { from: wallet(0xc9) }],
    ['payer and payee are exchanged', { from: PROOF.to, to: PROOF.from }],
    ['the parties are zero', { from: wallet(0), to: wallet(0) }],
  ])('is contradicted by the transaction when %s', async (_title, other) => {
    await insertSettlements(engine.writer, [paid]);
    const row = await rate(rated, { proof: { ...PROOF, ...other } });
    expect(row).toMatchObject({ proof_of_payment: { status: 'contradicted', settlement: null } });
  });

  test.each([
    ['is not the one that was logged', { hashMatches: false }, { problem: null, hash_matches: false }],
    ['names another agent', { problem: 'other_agent' }, { problem: 'other_agent', hash_matches: true }],
    ['names another client', { problem: 'other_client' }, { problem: 'other_client', hash_matches: true }],
  ])('is contradicted, paid or not, when it %s', async (_title, outcome, file) => {
    await insertSettlements(engine.writer, [paid]);
    expect(await rate(rated, outcome)).toMatchObject({
      file: { status: 'good', ...file },
      proof_of_payment: { status: 'contradicted', settlement: null },
    });
  });

  test('is unknown on another chain than the payment, also on one that is not indexed', async () => {
    await insertSettlements(engine.writer, [paid]);
    for (const chain of [POLYGON, 'eip155:1'])
      expect(await rate(rated, { proof: { ...PROOF, chain } })).toMatchObject({
        proof_of_payment: { chain, status: 'unknown' },
      });
  });

  test('shows the comment in it, made safe to show also where it was stored otherwise', async () => {
    expect(await rate(rated, { comment: 'Quick, and right.' })).toMatchObject({
      comment: 'Quick, and right.',
    });
    await fetched(rated, { comment: 'p\u0430ypal\u202e \u0007' });
    expect((await page())[0]).toMatchObject({ comment: 'p{U+0430}ypal' });
    await fetched(rated, {});
    expect((await page())[0]).toMatchObject({ comment: null });
  });

  test('without a logged hash matches nothing and still proves', async () => {
    await insertSettlements(engine.writer, [paid]);
    expect(await rate({ ...rated, fileHash: hash(0) }, {})).toMatchObject({
      file_hash: null,
      file: { hash_matches: null },
      proof_of_payment: { status: 'proven' },
    });
  });

  test('a page asks the settlements once for all its proofs, and not at all without one', async () => {
    const asked: string[] = [];
    const watching = await testApi({
      ...engine.reader,
      rows: (statement, signal) => {
        asked.push(statement.name);
        return engine.reader.rows(statement, signal);
      },
    });
    const logs = [0, 1, 2].map((logIndex) => ({ ...rated, logIndex, feedbackIndex: BigInt(logIndex + 1) }));
    await insertSettlements(engine.writer, [paid]);
    await insertAttestations(engine.writer, logs);
    const proofs = () => asked.filter((name) => name === 'proofs-of-payment').length;
    await watching.get('/v0/attestations');
    expect(proofs()).toBe(0);
    for (const log of logs) await fetched(log, {});
    const { body } = await watching.get('/v0/attestations');
    await watching.close();
    expect(body.attestations.map((row: Answer) => row['proof_of_payment'])).toMatchObject(
      logs.map(() => ({ status: 'proven' })),
    );
    expect(proofs()).toBe(1);
  });
});
