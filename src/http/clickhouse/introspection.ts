import { Type } from '@sinclair/typebox';
import { fail } from '../../../core/errors.ts';
import type { Introspected, IntrospectionRequest } from '../../../sandbox/sandbox.ts';
import type { Outcome } from '../../operations/answer.ts';
import { defineOperation } from '../../operations/define.ts';
import { invalid, type Param } from '../../operations/params.ts';
import { PRICES, SQL_TIERS, sqlBudget } from '../../operations/prices.ts';
import { register } from '../../operations/register.ts';
import { asFailureOf } from '../../operations/sql/failures.ts';

/**
 * Questions of clients about the server: its databases, tables, columns, settings. They are answered from the published catalogue, free of
 * charge and counted like every request.
 */

/** Who asks, as the gate knows it. */
type Asker = Pick<IntrospectionRequest, 'callerName' | 'userName'>;

/** A question on its way through the gate, which hands it to `run`. */
export class Question {
  readonly ask: (asker: Asker) => Promise<Introspected | null>;

  constructor(ask: (asker: Asker) => Promise<Introspected | null>) {
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

const operation = defineOperation({
  id: 'introspectClickhouse',
  wire: {
    method: 'POST',
    path: '/clickhouse',
    params: { question: questionParam },
    output: Type.Object({}),
    fails: ['invalid_query', 'api_key_required'],
  },
  words: {
    summary: 'Answer a question of a ClickHouse client about the server',
    description: 'The ClickHouse HTTP interface.',
    example: {},
  },
  money: { price: PRICES.free, load: 'none' },
  access: { allowedAs: 'runSql' },
  review: ({ question }) => Promise.resolve(question),
  run: async (question, _deps, { caller, callerName }): Promise<Outcome> => {
    // A client without a key hears it when it connects: no query of it could run.
    if (!caller.keyPresent) throw fail('api_key_required', { detail: 'Send an API key as the password.' });
    const answer = await question
      .ask({ callerName, userName: caller.organization?.displayName })
      .catch(asFailure);
    if (answer === null) return { usedQu: null, answer: () => ({ body: {} }), discard: () => undefined };
    const { body, format, contentCoding, mediaType = 'application/octet-stream' } = answer;
    return {
      usedQu: null,
      answer: () => ({
        stream: {
          mediaType,
          headers: {
            'x-clickhouse-format': format,
            ...(contentCoding === undefined ? {} : { 'content-encoding': contentCoding }),
            ...NOTHING_READ,
          },
          body,
        },
      }),
      discard: () => void body.destroy(),
    };
  },
});

/** A question has no budget: nothing of it is charged. */
function asFailure(error: unknown): never {
  return asFailureOf(error, { budget: sqlBudget(SQL_TIERS[0]), hasKey: false, text: '', parameters: {} });
}

/** Its answer is a stream, or an empty body where the text is no question. */
export const introspectClickhouse = register(operation);

/** Clients read figures of every answer. */
const NOTHING_READ = {
  'x-clickhouse-summary':
    '{"read_rows":"0","read_bytes":"0","written_rows":"0","written_bytes":"0","total_rows_to_read":"0","result_rows":"0","result_bytes":"0","elapsed_ns":"0"}',
  'x-units-held': '0',
  'x-units-charged': '0',
} as const;
