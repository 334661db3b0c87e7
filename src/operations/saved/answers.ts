import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { jsonAnswer } from '../../../sandbox/results/json-answer.ts';
import { readAhead } from '../../../sandbox/results/read-ahead.ts';
import type { KeptResult, Results } from '../../results/results.ts';
import type { Charge } from '../answer.ts';
import { NOT_CHARGED } from '../answer.ts';
import type { Meta } from '../meta.ts';
import { engineRequest, openAnswer, type SqlAnswerFacts } from '../sql/answer.ts';
import { bounded } from '../sql/bounded-body.ts';
import { SQL_MEDIA } from '../sql/params.ts';
import type { AnswerForm, ReadyAnswer, SavedAnswers, SavedVersion } from '../sql/ready-answer.ts';

/**
 * Answers of saved queries, made from kept results. What was charged stands in headers, so that equal answers are equal bytes: they are
 * kept in the memory of the process, and have a tag.
 */

/** Bytes that are ready to leave, or the beginning of more than is kept in memory. */
interface Ready {
  readonly etag: string;
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer | null;
  readonly rest: (() => AsyncIterable<Buffer>) | null;
}

/** Of one answer: larger ones are made for each call. */
export const SAVED_ANSWER_REMEMBERED_BYTES = 1024 * 1024;
/** docs/scale.md states it. */
export const SAVED_ANSWERS_REMEMBERED_BYTES = 64 * 1024 * 1024;
/** At most 64 KiB each, and mostly some hundred bytes. */
const REMEMBERED_TEXTS = 1_000;
/** Of an entry besides its bytes, roughly. */
const ENTRY_BYTES = 1_000;

export function createSavedAnswers(results: Pick<Results, 'read'>): SavedAnswers {
  const remembered = new LRUCache<string, Ready>({
    maxSize: SAVED_ANSWERS_REMEMBERED_BYTES,
    sizeCalculation: ({ bytes }) => (bytes?.length ?? 0) + ENTRY_BYTES,
  });
  const underWay = new Map<string, Promise<Ready>>();
  /** A crowd that comes at once makes one answer. An answer that is too large to remember is read once, so each caller makes its own. */
  const madeTogether = async (wanted: AnswerRequest): Promise<Ready> => {
    const { name } = wanted;
    const others = await underWay.get(name)?.catch(() => null);
    if (others?.bytes) return others;
    const made = make(results, wanted);
    underWay.set(name, made);
    try {
      const ready = await made;
      if (ready.bytes !== null) remembered.set(name, ready);
      return ready;
    } finally {
      if (underWay.get(name) === made) underWay.delete(name);
    }
  };
  return {
    printed: new LRUCache<string, string>({ max: REMEMBERED_TEXTS }),
    read: async (kept, query, form) => {
      const name = nameOf(kept, query, form);
      const ready = remembered.get(name) ?? (await madeTogether({ kept, query, form, name }));
      return readyAnswer(ready, Math.min(form.maxRows, Math.max(0, kept.rows - form.offset)));
    },
  };
}

function nameOf(
  { id, isKept }: KeptResult,
  { owner, slug, version }: SavedVersion,
  form: AnswerForm,
): string {
  const { format, numbers, csvNull = null, maxRows, offset } = form;
  return JSON.stringify([id, isKept, owner, slug, version, format, numbers, csvNull, maxRows, offset]);
}

interface AnswerRequest {
  readonly kept: KeptResult;
  readonly query: SavedVersion;
  readonly form: AnswerForm;
  readonly name: string;
}

async function make(
  results: Pick<Results, 'read'>,
  { kept, query, form, name }: AnswerRequest,
): Promise<Ready> {
  const { format } = form;
  const result = await results.read(kept, { ...engineRequest(form), offset: form.offset });
  const isJson = format === 'json' || format === 'json_compact';
  const body = isJson ? printedJson(result, { kept, query, form }) : await plainBody(result, kept, form);
  const ahead = await readAhead(inBuffers(body), SAVED_ANSWER_REMEMBERED_BYTES);
  return {
    // Of the whole name: another page, format or version is another answer. Weak, because the server may compress it.
    etag: `W/"${createHash('sha256').update(name).digest('hex').slice(0, 32)}"`,
    mediaType: SQL_MEDIA[format].mediaType,
    headers: headersOf(kept, query, form),
    bytes: ahead.isWhole ? Buffer.concat(ahead.begun) : null,
    rest: ahead.isWhole ? null : () => ahead.all(),
  };
}

function printedJson(
  { body }: Awaited<ReturnType<Results['read']>>,
  { kept, query, form }: Pick<AnswerRequest, 'kept' | 'query' | 'form'>,
): Readable {
  const { format, numbers, maxRows: rowsMax } = form;
  const text = jsonAnswer(body, {
    rows: format === 'json' ? 'objects' : 'arrays',
    numbers,
    rowsMax,
    tail: (rowCount) => tailOf(kept, query, form, rowCount),
  });
  return bounded(Readable.from(text, { objectMode: false }), SQL_MEDIA[format].bytesMax);
}

async function* inBuffers(parts: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  for await (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** Rows in the other formats, without the headers that tell about the text. */
async function plainBody(
  result: Awaited<ReturnType<Results['read']>>,
  { run }: KeptResult,
  form: AnswerForm,
): Promise<Readable> {
  const meta = run.meta as Meta; // written by the run (sql/obtain.ts)
  const facts: SqlAnswerFacts = { ...form, tier: 'standard', sql: '', warnings: [], meta };
  return (await openAnswer(result, facts)).complete(NOT_CHARGED).body;
}

function tailOf(
  kept: KeptResult,
  { owner, slug, version }: SavedVersion,
  { offset, maxRows }: AnswerForm,
  rowCount: number,
): Readonly<Record<string, unknown>> {
  const end = offset + maxRows;
  return {
    owner,
    slug,
    version,
    row_count: rowCount,
    total_rows: kept.rows,
    next_offset: end < kept.rows ? end : null,
    truncated: kept.hasMore,
    computed_at: new Date(kept.createdAtMs).toISOString(),
    meta: kept.run.meta,
  };
}

function headersOf(kept: KeptResult, { version }: SavedVersion, { offset, maxRows }: AnswerForm) {
  return {
    'x-query-version': String(version),
    'x-computed-at': new Date(kept.createdAtMs).toISOString(),
    'x-row-count': String(Math.max(0, Math.min(maxRows, kept.rows - offset))),
    'x-total-rows': String(kept.rows),
    'x-truncated': String(kept.hasMore),
    ...(kept.isKept ? {} : { 'x-result-kept': 'false' }),
  };
}

/** Headers of an answer. Declared once: CORS exposes them, OpenAPI documents them. */
export const SAVED_ANSWER_HEADERS = {
  'x-query-version': 'The version that ran.',
  'x-computed-at': 'When the run that made the result began.',
  'x-row-count': 'Rows of the answer.',
  'x-total-rows': 'Rows of the result.',
  'x-truncated': '`true` when the result itself has more rows than the `max_rows` of the query.',
  'x-result-kept':
    '`false` where there was no room to keep the result: the next call runs the query again. Absent otherwise.',
  'x-units-held': 'Query Units held for the call.',
  'x-units-charged': 'Query Units charged.',
  'x-units-balance': 'Query Units that the organization has left; absent where none were charged.',
  'accept-ranges': '`none`: an answer is not sent in parts.',
} as const;

function readyAnswer({ etag, mediaType, headers, bytes, rest }: Ready, rows: number): ReadyAnswer {
  const body = rest === null ? null : Readable.from(rest(), { objectMode: false });
  return {
    rows,
    answer: (charge) => {
      const all = { ...headers, ...chargeHeaders(charge) };
      if (bytes === null)
        return {
          stream: { mediaType, headers: { ...all, etag }, body: body ?? Readable.from([]) },
        };
      return {
        file: {
          mediaType,
          bytes: bytes.length,
          etag,
          takesRanges: false,
          headers: all,
          content: bytes,
          stream: () => Readable.from([bytes], { objectMode: false }),
        },
      };
    },
    discard: () => void body?.destroy(),
  };
}

function chargeHeaders({ heldQu, chargedQu, balance }: Charge): Record<string, string> {
  return {
    'x-units-held': String(heldQu),
    'x-units-charged': String(chargedQu),
    ...(balance === null ? {} : { 'x-units-balance': String(balance) }),
  };
}
