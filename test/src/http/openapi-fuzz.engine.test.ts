import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UnitBalance } from '../../../core/domain/plan.ts';
import { chargeComplaints } from '../../fuzz/http/charges.ts';
import { type DescribedOperation, readDocument } from '../../fuzz/http/document.ts';
import { judge } from '../../fuzz/http/judge.ts';
import { RUNS_VARIABLE, SEED_VARIABLE } from '../../fuzz/http/options.ts';
import { type FuzzRequest, fuzzRequest } from '../../fuzz/http/requests.ts';
import { openStage, type Stage } from '../../fuzz/http/stage.ts';
import type { JsonObject } from '../../kit/document-schemas.ts';
import { lengthOf } from '../../kit/lengths.ts';

/**
 * Requests made from the OpenAPI document that the service serves, good ones and broken ones, to two real deployments. One seed,
 * so that a commit is judged by the same requests whenever it is judged; `npm run fuzz -- http` takes another one each time.
 */

const SEED = Number(process.env[SEED_VARIABLE] ?? 20_261_121);
const RUNS = Number(process.env[RUNS_VARIABLE] ?? lengthOf('httpFuzzRequests'));
const RUN_MS_MAX = 1_000;
const GRACE_MS = 60_000;
/** Below this most requests are refused at the door, and nothing is learned of the answers. */
const ANSWERED_SHARE_MIN = 0.2;

/** A job of the fuzz is a small query, and waits for the one before it. */
const JOB_MAX_MS = 20_000;
const POLL_MS = 20;
/** What makes something answers so. */
const MADE: Readonly<Record<string, number>> = { createSqlJob: 202, makeAccountKey: 201 };
/** Of what others ask for, and what ends it. */
const FIRST = ['claimHandle', 'saveQuery', 'saveDashboard', 'putTable'];
const LAST = ['deleteSavedQuery', 'deleteDashboard', 'deleteTable'];
/** The things in their examples are in no index and in no account of a test. */
const ABSENT_HERE = [
  'getTransaction',
  'getChannel',
  'getBundleFile',
  'getSqlJob',
  'cancelSqlJob',
  'getResult',
  'shareResult',
  'listResultShares',
  'revokeResultShare',
  'getSharedResult',
  'changeAccountKey',
  'revokeAccountKey',
];

let stage: Stage;
let operations: readonly DescribedOperation[];
let balances: Readonly<Record<string, UnitBalance>>;

beforeAll(async () => {
  stage = await openStage();
  operations = readDocument(stage.document);
  balances = await stage.units();
});
afterAll(() => stage?.close());

test('each operation takes the values that the document shows for its parameters, together', async () => {
  const asked = operations.filter(({ isApi, priceClass }) => isApi && priceClass !== 'sold');
  // The examples name the second version of a saved query, which is theirs.
  for (const save of asked.filter(({ id }) => id === 'saveQuery'))
    for (const body of save.body?.examples ?? [])
      expect((await asShown(save, { ...body, title: 'First' })).status).toBe(200);
  const placeOf = ({ id }: DescribedOperation): number => LAST.indexOf(id) - FIRST.toReversed().indexOf(id);
  for (const operation of asked.toSorted((one, other) => placeOf(one) - placeOf(other))) {
    for (const body of operation.body?.examples ?? [null]) {
      const { status, complaints } = await asShown(operation, body);
      const good = MADE[operation.id] ?? 200;
      const expected = ABSENT_HERE.includes(operation.id) ? 404 : good;
      expect([operation.id, status, complaints]).toEqual([operation.id, expected, []]);
    }
  }
});

test(
  'whatever is asked, the answer is one that the document describes, never a 5xx, and nothing is charged that it does not say',
  async () => {
    const statuses = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fuzzRequest(operations, stage.known), async (request) => {
        const complaints = await complaintsOf(request, (status) => {
          const seen = `${request.operation} ${status}`;
          statuses.set(seen, (statuses.get(seen) ?? 0) + 1);
        });
        expect(complaints).toEqual([]);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: false },
    );
    if (process.env[RUNS_VARIABLE] !== undefined) process.stdout.write(`${described(statuses)}\n`);
    const answered = [...statuses].filter(([seen]) => / (20[012]|304)$/.test(seen));
    const share = answered.reduce((sum, [, times]) => sum + times, 0) / RUNS;
    expect(share).toBeGreaterThan(ANSWERED_SHARE_MIN);
  },
  RUNS * RUN_MS_MAX + GRACE_MS,
);

/** The request that a reader makes who copies every example. */
async function asShown(operation: DescribedOperation, body: JsonObject | null) {
  const values = operation.parameters.filter(({ example }) => example !== undefined);
  const text = ({ example }: { readonly example?: unknown }) => encodeURIComponent(String(example));
  const path = values.reduce(
    (filled, value) => filled.replace(`{${value.name}}`, text(value)),
    operation.path,
  );
  const query = values.filter((value) => value.in === 'query').map((value) => `${value.name}=${text(value)}`);
  let status = 0;
  const complaints = await complaintsOf(
    {
      operation: operation.id,
      deployment: 'plain',
      method: operation.method,
      target: `/v0${path}?${query.join('&')}`,
      credential: 'rich',
      headers: { 'content-type': 'application/json' },
      body: body === null ? null : Buffer.from(JSON.stringify(body)).toString('latin1'),
    },
    (seen) => {
      status = seen;
    },
  );
  return { status, complaints };
}

/** That of the method at the path of the request; where there is none, the one that the request was made for. */
function operationOf(request: FuzzRequest): DescribedOperation {
  const wanted = operations.find(({ id }) => id === request.operation);
  if (wanted === undefined) throw new Error(`no operation ${request.operation}`);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return operations.find((other) => other.path === wanted.path && other.method === method) ?? wanted;
}

async function complaintsOf(request: FuzzRequest, saw: (status: number) => void): Promise<string[]> {
  const operation = operationOf(request);
  const answer = await stage.send(request);
  saw(answer.status);
  const before = balances;
  const after = await unitsWhenDone(before);
  balances = after;
  return [
    ...judge(operation, request, answer),
    ...chargeComplaints({ operation, request, answer, before, after }),
  ];
}

/** Once no job of the request holds units any more. */
async function unitsWhenDone(before: typeof balances): Promise<typeof balances> {
  const heldOf = (all: typeof balances) => Object.values(all).map(({ held }) => held);
  const untilMs = Date.now() + JOB_MAX_MS;
  for (;;) {
    const after = await stage.units();
    if (String(heldOf(after)) === String(heldOf(before)) || Date.now() > untilMs) return after;
    await delay(POLL_MS);
  }
}

function described(statuses: ReadonlyMap<string, number>): string {
  return [...statuses]
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .map(([seen, times]) => `${String(times).padStart(6)}  ${seen}`)
    .join('\n');
}
