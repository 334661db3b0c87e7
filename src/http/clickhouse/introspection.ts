import type { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import type { Outcome } from '../../operations/answer.ts';
import { defineUsageOperation, registerMetered } from '../../operations/define.ts';
import { invalid, type Param } from '../../operations/params.ts';
import { PRICES } from '../../operations/prices.ts';

/**
 * Questions of clients about the server: its databases, tables, columns, settings. They are answered from the published catalogue, free of
 * charge and counted like every request.
 */
export interface Introspection {
  /** Null for a text that is no such question: it is run as a query. */
  introspect(request: IntrospectionRequest): Promise<IntrospectionAnswer | null>;
}

export interface IntrospectionRequest {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Where the text names none. */
  readonly format: string;
  readonly database: string;
  readonly queryId: string;
  readonly callerName: string;
  readonly signal: AbortSignal;
}

export interface IntrospectionAnswer {
  readonly body: Readable;
  /** As the engine spells it. */
  readonly format: string;
  readonly mediaType?: string;
}

/** Where there is no catalogue: every text is run as a query. */
export const NO_INTROSPECTION: Introspection = { introspect: () => Promise.resolve(null) };

/**
 * Whether a text can be such a question. Any other is run without asking, so that it is counted once; one that only looks like it is
 * counted twice.
 */
export function mayIntrospect(text: string): boolean {
  return ASKS.test(text) || !/\bFROM\b/i.test(text);
}

const ASKS =
  /\b(system|information_schema|pg_catalog|SHOW|DESC|DESCRIBE|EXISTS|USE|SET|currentDatabase|current_database|currentUser|version|timezone|serverTimezone|hostName)\b/i;

/** A question on its way through the gate, which hands it to `run`. */
export class Question {
  readonly ask: (callerName: string) => Promise<IntrospectionAnswer | null>;

  constructor(ask: (callerName: string) => Promise<IntrospectionAnswer | null>) {
    this.ask = ask;
  }
}

const questionParam: Param<Question> = {
  in: 'body',
  description: 'The question as the interface read it.',
  required: true,
  schema: Type.Any(),
  read: (raw, name) => {
    if (raw instanceof Question) return raw;
    throw invalid(name, 'This operation is called by the ClickHouse interface only.');
  },
};

const operation = defineUsageOperation({
  id: 'introspectClickhouse',
  method: 'POST',
  path: '/clickhouse',
  summary: 'Answer a question of a ClickHouse client about the server',
  description: 'The ClickHouse HTTP interface.',
  toolText: 'The ClickHouse HTTP interface.',
  price: PRICES.free,
  load: 'none',
  params: { question: questionParam },
  output: Type.Object({}),
  fails: ['invalid_query'],
  paging: 'none',
  caching: 'no-store',
  acceptsUnknownKey: false,
  example: {},
  terms: () => ({ price: PRICES.free, byUse: false, tier: null }),
  review: ({ question }) => Promise.resolve(question),
  run: async (question, _deps, { callerName }): Promise<Outcome> => {
    const answer = await question.ask(callerName);
    if (answer === null) return { usedQu: null, answer: () => ({ body: {} }), discard: () => undefined };
    const { body, format, mediaType = 'application/octet-stream' } = answer;
    return {
      usedQu: null,
      answer: () => ({
        stream: {
          mediaType,
          headers: { 'x-clickhouse-format': format, ...NOTHING_READ },
          body,
          trailers: null,
        },
      }),
      discard: () => void body.destroy(),
    };
  },
});

/** Its answer is a stream, or an empty body where the text is no question. */
export const introspectClickhouse = registerMetered(operation);

/** Clients read figures of every answer. */
const NOTHING_READ = {
  'x-clickhouse-summary':
    '{"read_rows":"0","read_bytes":"0","written_rows":"0","written_bytes":"0","total_rows_to_read":"0","result_rows":"0","result_bytes":"0","elapsed_ns":"0"}',
  'x-units-held': '0',
  'x-units-charged': '0',
} as const;
