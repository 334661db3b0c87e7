import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { KEY_RIGHTS, rightsOf } from '../../../core/domain/key-right.ts';
import { fail } from '../../../core/errors.ts';
import { admitEffects, EFFECTS } from '../../../src/gate/access.ts';
import { endedWithKey } from '../../../src/gate/key-watch.ts';
import { introspectClickhouse } from '../../../src/http/clickhouse/introspection.ts';
import type { PreparedCall } from '../../../src/operations/define.ts';
import type { Caller } from '../../../src/operations/deps.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { runClickhouse } from '../../../src/operations/sql/clickhouse.ts';
import { watchedLog } from '../../kit/secrets-watch.ts';

const ALL = [...OPERATIONS, runClickhouse, introspectClickhouse];

/** Of each operation that a right or the lent key is refused: written out, so that a new one is decided about. */
const KEEPING = [
  // As a job.
  'runSql',
  'listAccountQueries',
  'forgetAccountQueries',
  'createSqlJob',
  'listSqlJobs',
  'getSqlJob',
  'cancelSqlJob',
  'shareResult',
  'listResultShares',
  'revokeResultShare',
  'putTable',
  'listTables',
  'getTable',
  'deleteTable',
  'saveQuery',
  'listSavedQueries',
  'getSavedQuery',
  'deleteSavedQuery',
  'listQueryVersions',
  'listQueryRefreshes',
  'saveDashboard',
  'deleteDashboard',
];
const RIGHTS = {
  shareResult: ['publishes'],
  putTable: ['changes'],
  deleteTable: ['changes'],
  saveQuery: ['changes', 'publishes', 'schedules'],
  deleteSavedQuery: ['changes'],
  saveDashboard: ['changes', 'publishes'],
  deleteDashboard: ['changes'],
};
const MANAGING = ['makeAccountKey', 'changeAccountKey', 'revokeAccountKey', 'claimHandle'];

describe('effects', () => {
  test('every operation has its own, and one that changes something takes a right, manages keys or keeps', () => {
    expect(Object.keys(EFFECTS).sort()).toEqual(ALL.map(({ id }) => id).sort());
    const having = (wanted: string) =>
      ALL.map(({ id }) => id).filter((id) => EFFECTS[id]?.some((effect) => effect === wanted));
    expect(having('keeps')).toEqual(ALL.map(({ id }) => id).filter((id) => KEEPING.includes(id)));
    expect(having('manages').sort()).toEqual([...MANAGING].sort());
    for (const right of KEY_RIGHTS)
      expect(having(right)).toEqual(
        Object.entries(RIGHTS)
          .filter(([, rights]) => rights.includes(right))
          .map(([id]) => id),
      );
    for (const { id, changes } of ALL)
      if (changes !== undefined) expect([...KEEPING, ...MANAGING]).toContain(id);
    for (const { id, price } of ALL) if (price.class === 'metered') expect(EFFECTS[id]).toContain('spends');
  });

  const NONE = { unitsPerDay: null, operations: null };
  test.each([
    ['without limits', { expiresAtMs: null, limits: NONE }, KEY_RIGHTS],
    ['of a record without limits', { expiresAtMs: null }, KEY_RIGHTS],
    ['with a budget', { expiresAtMs: null, limits: { ...NONE, unitsPerDay: 1 } }, []],
    ['with operations', { expiresAtMs: null, limits: { ...NONE, operations: ['saveQuery'] } }, []],
    ['that expires', { expiresAtMs: 1 }, []],
    [
      'with a budget and rights',
      { expiresAtMs: 1, limits: { ...NONE, unitsPerDay: 1, rights: ['changes'] } },
      ['changes'],
    ],
    ['without limits that was given none', { expiresAtMs: null, limits: { ...NONE, rights: [] } }, []],
  ] as const)('a key %s', (_name, key, expected) => {
    expect(rightsOf({ kind: 'live', ...key })).toEqual(expected);
    expect(rightsOf({ kind: 'trial', ...key })).toEqual([]);
  });

  const caller = (key: object): Pick<Caller, 'key' | 'organization'> => ({
    organization: { id: 'acme', displayName: 'Acme', plan: 'free' },
    key: {
      id: 'key_1',
      managesKeys: false,
      isLent: false,
      rights: [],
      operations: null,
      expiresAtMs: null,
      ...key,
    },
  });
  const admitted = (id: string, key: object, effects?: (typeof EFFECTS)[string]): boolean => {
    try {
      admitEffects(caller(key), { id, changes: 'adds' }, effects === undefined ? {} : { effects });
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'key_restricted' });
      return false;
    }
  };

  test('a key without rights calls all but what takes one, and the lent key nothing that is kept', () => {
    for (const { id } of ALL) {
      expect([id, admitted(id, {})]).toEqual([id, !(id in RIGHTS)]);
      expect([id, admitted(id, { isLent: true })]).toEqual([id, !KEEPING.includes(id)]);
      expect([id, admitted(id, { rights: KEY_RIGHTS })]).toEqual([id, true]);
    }
    expect(admitted('notNamedYet', { rights: ['changes', 'publishes'] })).toBe(false);
  });

  const prepared = (id: string, input: object): Pick<PreparedCall, 'effects'> => {
    const facts = { chains: [], cursorKeys: { keys: [Buffer.alloc(32)] } } as const;
    return OPERATIONS.find((operation) => operation.id === id)?.prepare({ ...input }, facts) ?? {};
  };

  test.each([
    [{}, true],
    [{ max_age: 60 }, true],
    [{ explain_only: true }, true],
    [{ wait_seconds: 0 }, false],
    [{ wait_seconds: 55, max_age: 60 }, false],
  ])('a query with %j is asked with the lent key: %s', (more, expected) => {
    const { effects } = prepared('runSql', { sql: 'SELECT 1', ...more });
    expect(admitted('runSql', { isLent: true }, effects)).toBe(expected);
    expect(admitted('runSql', {}, effects)).toBe(true);
  });

  test.each([
    [{}, ['changes']],
    [{ visibility: 'public' }, ['changes', 'publishes']],
    [{ visibility: 'unlisted' }, ['changes', 'publishes']],
    [{ price_qu: 1 }, ['changes', 'publishes']],
    [{ refresh_seconds: 3_600 }, ['changes', 'schedules']],
  ])('saving with %j takes %j', (more, rights) => {
    const { effects = [] } = prepared('saveQuery', { slug: 'a', sql: 'SELECT 1', ...more });
    expect(effects.filter((effect) => effect !== 'keeps')).toEqual(rights);
    expect(admitted('saveQuery', { rights }, effects)).toBe(true);
    expect(admitted('saveQuery', { rights: rights.slice(1) }, effects)).toBe(false);
  });
});

test('a stream of events ends when its key is refused, not when the store fails, and no other answer is watched', async () => {
  const checks = [
    fail('upstream_unavailable', { detail: 'x' }),
    null,
    fail('invalid_api_key', { detail: 'x' }),
  ];
  let looks = 0;
  const check = async (): Promise<void> => {
    const failure = checks[Math.min(looks, checks.length - 1)];
    looks += 1;
    if (failure) throw failure;
  };
  const stream = (mediaType: string) => {
    const body = new Readable({ read: () => undefined });
    body.push('event: job\n\n');
    return { stream: { mediaType, headers: {}, body, trailers: null } };
  };
  const watch = { check, lookMs: 1, log: watchedLog('key-watch') };
  const events = stream('text/event-stream; charset=utf-8');
  const answer = endedWithKey(events, watch);
  if (!('stream' in answer)) throw new Error('no stream');
  const chunks: string[] = [];
  for await (const chunk of answer.stream.body) chunks.push(String(chunk));
  await turn();
  expect([chunks.join(''), looks >= 3, events.stream.body.destroyed]).toEqual(['event: job\n\n', true, true]);
  const json = stream('application/json');
  expect(endedWithKey(json, watch)).toBe(json);
});
