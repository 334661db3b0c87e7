import { readFileSync } from 'node:fs';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect } from 'vitest';
import { type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import type { ResultColumn } from '../../../sandbox/results/column-type.ts';
import { exportText } from '../../../sandbox/run/export-text.ts';
import { NUMBER_FORMS, type NumberForm } from '../../../sandbox/sandbox.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, POLYGON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** The SELECT around an accepted text, over everything that analysts are known to ask. */

let engine: SandboxEngine;
let deps: InspectDeps;

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  await reportChain(engine.writer, BASE);
  await insertSettlements(
    engine.writer,
    Array.from({ length: 600 }, (_, at) =>
      settlement({
        blockNumber: 100 + at,
        blockTime: NOON - at * 1_020,
        logIndex: at % 9,
        chain: at % 5 === 0 ? POLYGON : BASE,
        payer: wallet(1_001 + (at % 23)),
        payee: wallet(at % 13 === 0 ? 1_001 + (at % 23) : 1_001 + (at % 11)),
        amount: BigInt(at),
        amountUsdMicros: BigInt((at % 37) * 130_000 + 1),
        facilitator: at % 3 === 0 ? '' : 'coinbase',
      }),
    ),
  );
});

interface Case {
  readonly sql: string;
  readonly params?: Readonly<Record<string, string>>;
}

const casesOf = (name: string): [string, Case][] =>
  readFileSync(new URL(`../../fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((one: Case & { readonly id: string }) => [one.id, one]);

const cases: readonly (readonly [string, Case])[] = [
  ...casesOf('clickbench-shaped'),
  ...casesOf('legit-more'),
  ...docsQuestions().map((question): [string, Case] => [`docs ${question.number}`, question]),
];

/** What no column of a file may be: bytes of a number, or seconds without a zone. */
const UNREADABLE = /^(FixedSizeBinary\[(16|32)\]|Decimal\[(39|[4-7]\d)e)/;

/** `()`, which Parquet has no type for. */
const NOT_IN_PARQUET = /, \(\),/;
/** Literals above 38 digits, whose failure test/src/operations/sql shows, and a placeholder with such a value. */
const TOO_WIDE = /\d{39,}|\{u:UInt256\}/;

describe('a question that is asked for as a file', () => {
  test.each(cases)('%s', async (_id, { sql, params = {} }) => {
    const verdict = await inspect(sql, params, deps);
    if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
    const { text, parameters: placeholders } = verdict.accepted;
    const parameters = parametersAsSent(placeholders, params);
    const described = await columnsOf(text, parameters);
    const plain = await run(text, { parameters, format: 'JSONCompactEachRow' });
    if (NOT_IN_PARQUET.test(sql)) return;
    for (const numbers of NUMBER_FORMS.filter((form) => form === 'text' || !TOO_WIDE.test(sql))) {
      const exported = exportText(text, described, { format: 'arrow', numbers });
      const { rows, bytes } = await run(exported, { parameters, format: 'ArrowStream' });
      expect(rows).toBe(plain.rows);
      const table = tableFromIPC(bytes);
      expect(table.schema.fields).toHaveLength(described.length);
      expect(new Set(table.schema.fields.map(({ name }) => name)).size).toBe(described.length);
      const types = table.schema.fields.map(({ type }) => String(type));
      if (!described.some(({ type }) => /AggregateFunction|FixedString/.test(type)))
        expect(types.filter((type) => UNREADABLE.test(type))).toEqual([]);
      await parquet(text, { described, numbers, parameters, rows: plain.rows });
    }
  });
});

interface Asked {
  readonly parameters: Readonly<Record<string, string>>;
  readonly format: string;
}

async function columnsOf(text: string, parameters: Asked['parameters']): Promise<ResultColumn[]> {
  const rows = await engine.guest.explain({
    name: 'describe',
    text: `DESCRIBE TABLE (${text})`,
    parameters,
    maxSeconds: 10,
  });
  return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
}

async function run(
  text: string,
  { parameters, format }: Asked,
): Promise<{ readonly rows: number; readonly bytes: Buffer }> {
  const { figures, body } = await engine.guest.query(
    {
      name: 'export',
      text,
      parameters,
      queryId: crypto.randomUUID(),
      format,
      maxRows: 10_000,
      maxSeconds: 20,
    },
    new AbortController().signal,
  );
  return { rows: figures.resultRows, bytes: Buffer.concat(await body.toArray()) };
}

async function parquet(
  text: string,
  asked: {
    readonly described: readonly ResultColumn[];
    readonly numbers: NumberForm;
    readonly parameters: Asked['parameters'];
    readonly rows: number;
  },
): Promise<void> {
  const { described, numbers, parameters, rows } = asked;
  const exported = exportText(text, described, { format: 'parquet', numbers });
  expect((await run(exported, { parameters, format: 'Parquet' })).rows).toBe(rows);
}
