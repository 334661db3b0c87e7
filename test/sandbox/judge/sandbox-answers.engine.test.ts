import { describe, expect } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../../../sandbox/judge/refusal.ts';
import { explainFailure } from '../../../sandbox/run/explain-failure.ts';
import { QueryFailed, type QueryFailure } from '../../../sandbox/sandbox.ts';
import { test } from '../../kit/fixtures.ts';
import { type SqlParams, sqlLines } from '../../kit/judge.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../../kit/rows.ts';

/** What a caller reads when a query is not run, or does not end: what, where, what instead, and nothing of ours. */

test.beforeAll(async ({ sandbox: { writer } }) => {
  await reportChain(writer, BASE);
  await insertSettlements(
    writer,
    Array.from({ length: 50 }, (_, at) =>
      settlement({ blockNumber: at, logIndex: at % 3, payer: wallet(at), amount: 2n ** 250n }),
    ),
  );
});

/** Physical names, internal aliases, rights, settings, versions, paths. */
const OURS =
  /index_of_test|_public|__table|DB::|\bguest\b|\bwriter\b|privileges|\bsetting\b|max_(?!qu)\w+|unhex|26\.\d|version|\/tmp|:\d{4}\b/i;

/** A text, the rule that refuses it, and what the answer says at least; … stands for any words. */
interface RefusedLine extends Partial<Pick<Refusal, 'near' | 'detail' | 'hint' | 'meant'>> {
  readonly code: RefusalCode;
  readonly sql: string;
  readonly params?: SqlParams;
  /** Column, and line where it is not the first. */
  readonly at?: readonly [column: number, line?: number];
}

const REFUSED: readonly RefusedLine[] = [
  ...sqlLines<RefusedLine>('refused-answers'),
  { code: 'too_long', sql: `SELECT '${'x'.repeat(65_536)}'` },
  {
    code: 'too_complex',
    sql: `SELECT ${Array.from({ length: 33 }, () => '(SELECT count() FROM settlements AS a, settlements AS b)').join('+')}`,
  },
];

const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );

describe('a refusal says what, where, and what to write instead', () => {
  test.for(REFUSED.map((line) => [line.sql.slice(0, 60), line.code, line] as const))(
    '%j is %s',
    async ([, code, { sql, params, at, ...said }], { judge }) => {
      const refusal = await judge.refused(sql, params);
      for (const [name, text] of Object.entries(said))
        expect(refusal[name as 'near'], name).toMatch(pattern(text)); // names of a line
      if (at !== undefined) expect(refusal.position).toEqual({ column: at[0], line: at[1] ?? 1 });
      expect(refusal.detail).toMatch(/\S.*\.$/s);
      expect(refusal.hint).toMatch(/\S.*[.?]$/s);
      if (refusal.near !== undefined) expect(refusal.position).toBeDefined();
      // The caller's own word may be anything.
      const { near = '', ...rest } = refusal;
      expect(JSON.stringify(rest).replaceAll(near, '')).not.toMatch(
        code === 'settings' ? /index_of_test|_public/ : OURS,
      );
    },
  );

  test('every rule was seen to refuse, save the one for unforeseen failures', () => {
    const seen = new Set(REFUSED.map(({ code }) => code));
    expect(Object.keys(REFUSALS).filter((code) => !seen.has(code as RefusalCode))).toEqual(['unexplained']);
  });
});

test('a clause without effect is accepted, with a warning', async ({ judge }) => {
  const warningsOf = async (sql: string) => (await judge.accepted(sql)).warnings.map(({ code }) => code);
  expect(await warningsOf('SELECT 1 FORMAT JSON')).toEqual(['format_ignored']);
  expect(await warningsOf('SELECT 1 SETTINGS max_threads = 8')).toEqual(['settings_left_out']);
  expect(await warningsOf('SELECT 1 SETTINGS max_result_rows = 8')).toEqual([]);
  expect(await warningsOf('SELECT payer FROM settlements PREWHERE 1')).toEqual(['prewhere_as_where']);
  expect(await warningsOf('SELECT count() FROM settlements;')).toEqual([]);
});

/** An accepted text that the engine refuses while it runs, and what the answer says; … stands for any words. */
interface FailingLine {
  readonly reason: QueryFailure;
  readonly sql: string;
  readonly detail: string;
  readonly hint?: string;
}

describe('a failure says why, in words of our own', () => {
  test.for(sqlLines<FailingLine>('failing-answers').map((line) => [line.sql, line.reason, line] as const))(
    '%s: %s',
    async ([, , { sql, reason, detail, hint }], { judge, sandbox }) => {
      const accepted = await judge.accepted(sql);
      const { text } = accepted;
      const parameters = parametersAsSent(accepted.parameters, {});
      const maxSeconds = reason === 'timeout' ? 1 : 10;
      const error = await sandbox.guest
        .explain({ name: 'failing', text, parameters, maxSeconds })
        .catch((thrown: unknown) => thrown);
      if (!(error instanceof EngineError)) throw new Error('it did not fail');
      const failure = explainFailure(error, accepted, null);
      if (!(failure instanceof QueryFailed)) throw failure;
      expect(failure.reason).toBe(reason);
      expect(failure.detail).toMatch(pattern(detail));
      if (hint !== undefined) expect(failure.hint).toMatch(pattern(hint));
      expect(`${failure.detail} ${failure.hint}`).not.toMatch(OURS);
    },
  );
});
