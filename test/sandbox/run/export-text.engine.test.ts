import { tableFromIPC } from 'apache-arrow';
import { expect } from 'vitest';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { exportText } from '../../../sandbox/run/export-text.ts';
import { NUMBER_FORMS } from '../../../sandbox/sandbox.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { test } from '../../kit/fixtures.ts';
import { sqlLines } from '../../kit/judge.ts';
import { lengthOf } from '../../kit/lengths.ts';
import { fillWeek } from '../../kit/sql-week.ts';

/** The SELECT around an accepted text, over what analysts are known to ask: every few questions, at night all. */

const STEP = lengthOf('exportedQuestionStep');
const QUESTIONS = [
  ...sqlLines('clickbench-shaped'),
  ...sqlLines('legit-more'),
  ...docsQuestions().map((question) => ({ id: `docs ${question.number}`, ...question })),
].filter((_, at) => at % STEP === 0);

/** What no column of a file may be: bytes of a number, or seconds without a zone. */
const UNREADABLE = /^(FixedSizeBinary\[(16|32)\]|Decimal\[(39|[4-7]\d)e)/;
/** `()`, which Parquet has no type for. */
const NOT_IN_PARQUET = /, \(\),/;
/** Literals above 38 digits, whose failure test/src/operations/sql shows, and a placeholder with a value of that size. */
const TOO_WIDE = /\d{39,}|\{u:UInt256\}/;

test.beforeAll(({ sandbox }) => fillWeek(sandbox.writer, BigInt));

test.for(QUESTIONS.map((one) => [one.id, one] as const))(
  '%s is whole and readable when it is asked for as a file',
  async ([, one], { judge, sandbox }) => {
    const { sql, params = {} } = one;
    if (NOT_IN_PARQUET.test(sql)) return;
    const accepted = await judge.accepted(sql, params);
    const { text } = accepted;
    const parameters = parametersAsSent(accepted.parameters, params);
    const described = (
      await sandbox.guest.explain({
        name: 'describe',
        text: `DESCRIBE TABLE (${text})`,
        parameters,
        maxSeconds: 10,
      })
    ).map(([name, type]) => ({ name: String(name), type: String(type) }));
    const run = (asked: string, format: string) => judge.run(asked, { parameters, format });
    const { resultRows } = (await run(text, 'JSONCompactEachRow')).figures;
    for (const numbers of NUMBER_FORMS.filter((form) => form === 'text' || !TOO_WIDE.test(sql))) {
      const arrow = await run(exportText(text, described, { format: 'arrow', numbers }), 'ArrowStream');
      expect(arrow.figures.resultRows).toBe(resultRows);
      const { fields } = tableFromIPC(arrow.bytes).schema;
      expect(fields).toHaveLength(described.length);
      expect(new Set(fields.map(({ name }) => name)).size).toBe(described.length);
      if (!described.some(({ type }) => /AggregateFunction|FixedString/.test(type)))
        expect(fields.map(({ type }) => String(type)).filter((type) => UNREADABLE.test(type))).toEqual([]);
      const parquet = await run(exportText(text, described, { format: 'parquet', numbers }), 'Parquet');
      expect(parquet.figures.resultRows).toBe(resultRows);
    }
  },
);
