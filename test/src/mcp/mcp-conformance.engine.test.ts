import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fail } from '../../../core/errors.ts';
import {
  CURRENT_PROTOCOL,
  DOCS_RESOURCES,
  EARLIER_PROTOCOLS,
  type McpResource,
} from '../../../src/mcp/server.ts';
import { type AnyOperation, defineOperation } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { PRICES } from '../../../src/operations/prices.ts';
import { register } from '../../../src/operations/register.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';
import { peerFile, peersAreThere } from '../../kit/peers.ts';

/** The official conformance suite of MCP: its process, the tools it asks every server for, and what it asks for that is not ours. */

/** Checks by what became of them, each as `scenario: check`. */
interface SuiteRun {
  readonly passed: ReadonlySet<string>;
  /** Those that warn, too: what a server SHOULD do is listed with a reason or done. */
  readonly failed: ReadonlySet<string>;
}

interface Check {
  readonly id: string;
  readonly status: string;
}

const IS_ABSENT = !peersAreThere();
const SUITE = peerFile('@modelcontextprotocol/conformance/dist/index.js');

/** The suite imports `globSync`, which Node 20 does not have, for a command that is not used here: it gets one more name. */
const FS = dataUrl(
  "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = undefined;",
);
const HOOKS = dataUrl(`export const resolve = (specifier, context, next) =>
  specifier === 'fs' ? { url: ${JSON.stringify(FS)}, shortCircuit: true } : next(specifier, context);`);
/** The suite gives a tool half a second, which on a busy machine is a matter of luck: its limits are so many times as long. */
const PATIENCE = 5;
const PRELOAD = dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(HOOKS)});
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (act, ms, ...rest) => wait(act, ms * ${PATIENCE}, ...rest);`);

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Runs every scenario for servers that there is in this version of the protocol. */
async function runSuite(url: string, version: string): Promise<SuiteRun> {
  const dir = mkdtempSync(join(tmpdir(), 'settlement-index-conformance-'));
  try {
    const suite = spawn(
      process.execPath,
      [
        '--import',
        PRELOAD,
        SUITE,
        'server',
        '--url',
        url,
        '--suite',
        'all',
        '--spec-version',
        version,
        '--output-dir',
        dir,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    await once(suite, 'exit');
    return readRun(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readRun(dir: string): SuiteRun {
  const results = readdirSync(dir).flatMap((name) => {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name;
    const checks = JSON.parse(readFileSync(join(dir, name, 'checks.json'), 'utf8')) as Check[]; // its own format
    return checks.map(({ id, status }) => ({ name: `${scenario}: ${id}`, status }));
  });
  const named = (...states: string[]): Set<string> =>
    new Set(results.filter(({ status }) => states.includes(status)).map(({ name }) => name));
  return { passed: named('SUCCESS'), failed: named('FAILURE', 'WARNING') };
}

function fixture(id: string, summary: string, run: () => Promise<Record<string, never>>): AnyOperation {
  return register(
    defineOperation({
      id,
      wire: { path: `/test/${id}`, params: {}, output: Type.Object({}), fails: [] },
      words: { summary, description: 'A tool that the conformance suite calls.', example: {} },
      money: { price: PRICES.free },
      access: { acceptsUnknownKey: true },
      run,
    }),
  );
}

const nothing = () => Promise.resolve({});

/** Declared like every operation, so that the suite judges our surface and not a server made for it. */
const SUITE_OPERATIONS: readonly AnyOperation[] = [
  fixture('testSimpleText', 'This is a simple text response for testing', nothing),
  fixture('testErrorHandling', 'Fail', () =>
    Promise.reject(fail('invalid_parameter', { detail: 'This tool intentionally returns an error.' })),
  ),
  fixture('testLoggingTool', 'Do something that other servers log', nothing),
  fixture('testStreamingElicitation', 'Do something that other servers ask about', nothing),
];

const SUITE_RESOURCES: readonly McpResource[] = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    title: 'Text',
    description: 'A resource that the conformance suite reads.',
    mimeType: 'text/markdown',
    read: () => 'This is the content of the static text resource.',
  },
];

const PROMPTS = 'There are no prompts: the descriptions of the tools say what to ask.';
const CONTENT =
  'Answers are JSON and text: there are no images and sounds, and no resources inside of answers.';
const ASKING =
  'Nothing is asked back: a tool has all that it needs in its arguments, and keeps no state between calls.';
const STREAMS = 'Stateless: no session, no stream but the answer, nothing to resume.';
const TEMPLATES = 'Resources are pages of text, each with a URI of its own.';
const PARAM_HEADERS = 'No argument is repeated in a header (`x-mcp-header`).';

/** What the suite asks for and this service does not have, each with the reason. Everything else must pass. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  'prompts-list: prompts-list': PROMPTS,
  'prompts-get-simple: prompts-get-simple': PROMPTS,
  'prompts-get-with-args: prompts-get-with-args': PROMPTS,
  'prompts-get-embedded-resource: prompts-get-embedded-resource': PROMPTS,
  'prompts-get-with-image: prompts-get-with-image': PROMPTS,
  'caching: sep-2549-prompts-list-caching-hints': PROMPTS,
  'completion-complete: completion-complete': 'There is nothing to complete without prompts and templates.',
  'logging-set-level: logging-set-level':
    'No log leaves the service; `request_id` finds it for the operator.',
  'tools-call-with-logging: tools-call-with-logging': 'No log leaves the service.',
  'tools-call-with-progress: tools-call-with-progress':
    'The engine does not say how far a query is before it ends.',
  'tools-call-image: tools-call-image': CONTENT,
  'tools-call-audio: tools-call-audio': CONTENT,
  'tools-call-embedded-resource: tools-call-embedded-resource': CONTENT,
  'tools-call-mixed-content: tools-call-mixed-content': CONTENT,
  'resources-read-binary: resources-read-binary': CONTENT,
  'resources-templates-read: resources-templates-read': TEMPLATES,
  'resources-subscribe: resources-subscribe': 'Pages change with the program only.',
  'resources-unsubscribe: resources-unsubscribe': 'Pages change with the program only.',
  'json-schema-2020-12: json-schema-2020-12-tool-found':
    'Arguments are single values; the suite looks for a tool with $defs and conditions.',
  'tools-call-sampling: tools-call-sampling': ASKING,
  'tools-call-elicitation: tools-call-elicitation': ASKING,
  'elicitation-sep1034-defaults: elicitation-sep1034-general': ASKING,
  'elicitation-sep1330-enums: elicitation-sep1330-general': ASKING,
  'server-stateless: sep-2575-missing-capability-http-400': ASKING,
  'server-stateless: sep-2575-server-rejects-undeclared-capability': ASKING,
  'input-required-result-basic-elicitation: sep-2322-elicitation-incomplete': ASKING,
  'input-required-result-basic-list-roots: sep-2322-list-roots-incomplete': ASKING,
  'input-required-result-basic-sampling: sep-2322-sampling-incomplete': ASKING,
  'input-required-result-capability-check: sep-2322-respect-client-capabilities': ASKING,
  'input-required-result-ignore-extra-params: sep-2322-ignore-unexpected-params': ASKING,
  'input-required-result-missing-input-response: sep-2322-missing-response-rerequests': ASKING,
  'input-required-result-multi-round: sep-2322-multi-round-r1': ASKING,
  'input-required-result-multiple-input-requests: sep-2322-multiple-inputs-incomplete': ASKING,
  'input-required-result-non-tool-request: sep-2322-non-tool-incomplete': ASKING,
  'input-required-result-request-state: sep-2322-request-state-incomplete': ASKING,
  'input-required-result-result-type: sep-2322-result-type-included': ASKING,
  'input-required-result-tampered-state: sep-2322-reject-tampered-state': ASKING,
  'server-sse-multiple-streams: server-sse-multiple-streams-session': STREAMS,
  'server-sse-polling: server-sse-polling-session': STREAMS,
  'server-sse-polling: server-sse-priming-event': STREAMS,
  'server-sse-polling: server-sse-retry-field': STREAMS,
  'http-custom-header-server-validation: sep-2243-server-decode-base64': PARAM_HEADERS,
  'http-custom-header-server-validation: sep-2243-server-no-xmcp-tool': PARAM_HEADERS,
  'http-custom-header-server-validation: sep-2243-server-reject-invalid-param-chars': PARAM_HEADERS,
  'http-custom-header-server-validation: sep-2243-server-reject-param-mismatch': PARAM_HEADERS,
  'http-custom-header-server-validation: sep-2243-server-validate-param-match': PARAM_HEADERS,
};

/** What the protocol's own suite says of the real application, in each protocol: everything passes but the checks that are listed with a reason. */

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

test.skipIf(IS_ABSENT).each(VERSIONS)(
  'passes the conformance suite in protocol %s, but for listed checks',
  (version) => {
    const { passed, failed } = runs.get(version) ?? { passed: new Set(), failed: new Set() };
    expect([...failed].filter((check) => !Object.hasOwn(NOT_SERVED, check))).toEqual([]);
    expect([...passed].filter((check) => Object.hasOwn(NOT_SERVED, check) && !failed.has(check))).toEqual([]);
    expect(passed.size).toBeGreaterThanOrEqual(PASSED_MIN[version] ?? 0);
  },
);

test.skipIf(IS_ABSENT)('lists nothing that the suite does not ask for', () => {
  const failed = new Set([...runs.values()].flatMap((run) => [...run.failed]));
  expect(Object.keys(NOT_SERVED).filter((check) => !failed.has(check))).toEqual([]);
});
