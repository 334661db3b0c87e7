import { afterAll, beforeAll, expect, test } from 'vitest';
import { CURRENT_PROTOCOL, DOCS_RESOURCES, EARLIER_PROTOCOLS } from '../../../src/mcp/server.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import {
  NOT_SERVED,
  runSuite,
  SUITE_OPERATIONS,
  SUITE_RESOURCES,
  type SuiteRun,
} from '../../kit/mcp-conformance.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** What the protocol's own suite says of the real application, in each protocol: everything passes but what is listed with a reason. */

/** Of a busy machine; a quiet one takes a tenth. */
const SUITE_MAX_MS = 180_000;
const VERSIONS = [CURRENT_PROTOCOL, ...EARLIER_PROTOCOLS];
/** Fewer would mean that the suite was changed, or that it does not get through. */
const PASSED_MIN: Readonly<Record<string, number>> = {
  '2026-07-28': 60,
  '2025-11-25': 30,
  '2025-06-18': 25,
};

let api: OwnApi;
let runs: ReadonlyMap<string, SuiteRun>;

beforeAll(async () => {
  api = await ownApi({
    operations: [...OPERATIONS, ...SUITE_OPERATIONS],
    resources: [...DOCS_RESOURCES, ...SUITE_RESOURCES],
  });
  const url = `${await api.app.listen({ host: '127.0.0.1', port: 0 })}/mcp`;
  // Side by side: most of the suite's time is waiting.
  const done = VERSIONS.map(async (version) => [version, await runSuite(url, version)] as const);
  runs = new Map(await Promise.all(done));
}, SUITE_MAX_MS);
afterAll(() => api?.close());

test.each(VERSIONS)('passes the conformance suite in protocol %s, but for what is listed', (version) => {
  const { passed, failed } = runs.get(version) ?? { passed: new Set(), failed: new Set() };
  expect([...failed].filter((check) => !Object.hasOwn(NOT_SERVED, check))).toEqual([]);
  expect([...passed].filter((check) => Object.hasOwn(NOT_SERVED, check) && !failed.has(check))).toEqual([]);
  expect(passed.size).toBeGreaterThanOrEqual(PASSED_MIN[version] ?? 0);
});

test('lists nothing that the suite does not ask for', () => {
  const failed = new Set([...runs.values()].flatMap((run) => [...run.failed]));
  expect(Object.keys(NOT_SERVED).filter((check) => !failed.has(check))).toEqual([]);
});
