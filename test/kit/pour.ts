import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { SQL_TIER_IDS } from '../../core/domain/plan.ts';
import type { StreamedAnswer } from '../../src/operations/answer.ts';
import { type AnyOperation, defineOperation } from '../../src/operations/define.ts';
import type { OperationDeps } from '../../src/operations/deps.ts';
import type { Param } from '../../src/operations/params.ts';
import { PRICES, sqlBudget, sqlPrice, sqlTierOf } from '../../src/operations/prices.ts';
import { register } from '../../src/operations/register.ts';

/** A posted operation that answers with whatever stream a test gives it, and says what it was asked. */

export interface Pour {
  readonly operation: AnyOperation;
  /** The inputs of every run, in order. */
  readonly asked: Record<string, unknown>[];
  /** What the next runs answer with. */
  answerWith(make: (deps: OperationDeps) => Promise<StreamedAnswer> | StreamedAnswer): void;
}

const text = (name: string): Param<unknown> => ({
  in: 'body',
  description: name,
  required: false,
  schema: Type.Any(),
  read: (raw) => raw,
});

export function openPour({ free = false }: { readonly free?: boolean } = {}): Pour {
  const asked: Record<string, unknown>[] = [];
  let make: (deps: OperationDeps) => Promise<StreamedAnswer> | StreamedAnswer = () => streamed(['poured']);
  const operation = defineOperation({
    id: 'pour',
    wire: {
      method: 'POST',
      path: '/pour',
      params: { what: text('what'), format: text('format'), tier: text('tier') },
      output: Type.Object({}),
      answerHeaders: { 'x-poured': 'How much.' },
      fails: [],
    },
    words: {
      summary: 'Pour',
      description: 'Pour',
      example: {},
    },
    money: { price: PRICES.metered, repeatable: true },
    terms: (input) => {
      if (free) return { price: PRICES.free, byUse: false, tier: null };
      const tier = SQL_TIER_IDS.find((id) => id === input.tier) ?? 'standard';
      const facts = sqlTierOf(tier);
      return { price: sqlPrice(facts, sqlBudget(facts)), byUse: true, tier };
    },
    review: (input) => Promise.resolve(input),
    run: async (input, deps) => {
      asked.push(Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)));
      const stream = await make(deps);
      return { usedQu: 1, answer: () => ({ stream }), discard: () => void stream.body.destroy() };
    },
  });
  return {
    operation: register(operation),
    asked,
    answerWith: (next) => {
      make = next;
    },
  };
}

export function streamed(
  chunks: Iterable<string | Buffer> | AsyncIterable<string | Buffer> | Readable,
  over: Partial<StreamedAnswer> = {},
): StreamedAnswer {
  const body = chunks instanceof Readable ? chunks : Readable.from(chunks, { objectMode: false });
  return { mediaType: 'application/x-ndjson; charset=utf-8', headers: {}, body, ...over };
}
