import type { AttachedTable, EngineAccess } from './engine.ts';
import { engineErrorOf, withinSeconds } from './error.ts';
import { createEngineHttp, isSuccess, refusalOf, type StreamedAnswer, WHOLE_ANSWER } from './http.ts';
import { EXACT_OUTPUT } from './output.ts';

/** SELECTs over bytes that are sent along: results that are kept, written in another format. Reads none of our tables. */
export interface AttachedReader {
  /** Resolves once the engine has written the whole answer. Rejects with `EngineError`. */
  read(question: AttachedQuestion, signal?: AbortSignal): Promise<StreamedAnswer>;
  close(): void;
}

export interface AttachedQuestion {
  /** kebab-case, for the log. */
  readonly name: string;
  /** A SELECT without FORMAT that reads the table and nothing else. */
  readonly text: string;
  readonly table: AttachedTable;
  /** The engine's name of it. */
  readonly format: string;
  /** Settings of the format, in place of `EXACT_OUTPUT`. */
  readonly written?: Readonly<Record<string, string>>;
  /** Limits and settings of reading, for bytes that are not the engine's own. */
  readonly reading?: Readonly<Record<string, string | number>>;
}

/** A result has at most 64 MiB; the engine reads and writes it in about a second. */
const MAX_SECONDS = 60;
const CONNECTIONS_MAX = 4;

/** Types that the guest may give and that a table is declared with only where these are set. */
const EVERY_TYPE = {
  allow_suspicious_low_cardinality_types: 1,
  allow_suspicious_variant_types: 1,
  allow_suspicious_types_in_group_by: 1,
  enable_time_time64_type: 1,
} as const;

export function createAttachedReader(access: EngineAccess): AttachedReader {
  const http = createEngineHttp(access.url, access.reader, CONNECTIONS_MAX, access.headers);
  const words = {
    ...WHOLE_ANSWER,
    ...EXACT_OUTPUT,
    ...EVERY_TYPE,
    readonly: 2,
    cancel_http_readonly_queries_on_client_close: 1,
    output_format_parallel_formatting: 0,
    // Rows keep their order, and small results are read the fastest.
    max_threads: 1,
    max_execution_time: MAX_SECONDS,
  };
  return {
    read: ({ name, text, table, format, written, reading }, caller) =>
      withinSeconds(MAX_SECONDS, caller, async (signals) => {
        try {
          const statement = {
            text: `${text} FORMAT ${format}`,
            words: { ...words, ...written, ...reading, log_comment: name },
            attached: [table],
          };
          const answer = await http.send(statement, signals.either);
          if (!isSuccess(answer)) throw await refusalOf(answer, signals.either);
          return answer;
        } catch (error) {
          throw engineErrorOf(error, name, signals);
        }
      }),
    close: http.close,
  };
}
