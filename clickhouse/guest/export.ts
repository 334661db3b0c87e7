import type { Readable } from 'node:stream';
import { publicDatabaseOf } from '../engine/databases.ts';
import type { EngineAccess } from '../engine/engine.ts';
import { engineErrorOf } from '../engine/error.ts';
import { createEngineHttp, isSuccess, refusalOf, WHOLE_ANSWER } from '../engine/http.ts';
import { CLUSTER_SETTINGS } from '../engine/nodes.ts';

/**
 * Files of our own choice from the public tables, without the limits of a guest. As the writer, who made the views and may read them
 * in every deployment; the engine is asked to change nothing.
 */
export interface Exporter {
  /** The bytes of a Parquet file. A statement that fails rejects before the first of them. */
  parquet(statement: ExportStatement, signal: AbortSignal): Promise<Readable>;
  close(): void;
}

export interface ExportStatement {
  readonly name: string;
  /** Of our own, over the public tables. */
  readonly text: string;
  readonly maxSeconds: number;
}

/** Rows that a reader of the file holds at once, about 40 MB of settlements as JavaScript values. */
const ROW_GROUP_ROWS = 65_536;
const SPILL_ABOVE_BYTES = 256 * 1024 * 1024;

/** Equal rows give equal bytes: one thread, and groups of rows that are cut by their number. */
const SAME_BYTES = {
  readonly: 2,
  max_threads: 1,
  max_block_size: ROW_GROUP_ROWS,
  output_format_parallel_formatting: 0,
  output_format_parquet_parallel_encoding: 0,
  output_format_parquet_row_group_size: ROW_GROUP_ROWS,
  // Every reader of Parquet has it, JavaScript's too.
  output_format_parquet_compression_method: 'snappy',
  output_format_parquet_string_as_string: 1,
  output_format_parquet_date_as_uint16: 0,
  output_format_parquet_datetime_as_uint32: 0,
  do_not_merge_across_partitions_select_final: 1,
  max_bytes_before_external_sort: SPILL_ABOVE_BYTES,
  max_bytes_before_external_group_by: SPILL_ABOVE_BYTES,
} as const;

export function createExporter(access: EngineAccess): Exporter {
  const http = createEngineHttp(access.url, access.writer, 1, access.headers);
  return {
    async parquet({ name, text, maxSeconds }, signal) {
      // Held by its timer: Node 20 forgets an `AbortSignal.timeout` that only `AbortSignal.any` refers to.
      const late = new AbortController();
      const end = (): void => late.abort(new DOMException('the export took too long', 'TimeoutError'));
      setTimeout(end, (maxSeconds + 5) * 1_000).unref();
      const either = AbortSignal.any([signal, late.signal]);
      const signals = { either, caller: signal };
      const words = {
        database: publicDatabaseOf(access.database),
        default_format: 'Parquet',
        max_execution_time: maxSeconds,
        log_comment: name,
        ...(access.cluster === undefined ? {} : CLUSTER_SETTINGS),
        ...SAME_BYTES,
        ...WHOLE_ANSWER,
      };
      try {
        const answer = await http.send({ text, words }, either);
        if (isSuccess(answer)) return answer.body;
        throw await refusalOf(answer, either);
      } catch (error) {
        throw engineErrorOf(error, name, signals);
      }
    },
    close: http.close,
  };
}
