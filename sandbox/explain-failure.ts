import type { EngineError } from '../clickhouse/engine.ts';
import type { Accepted } from './inspect.ts';
import { QUERY_FAILURES, QueryFailed, type QueryFailure, type RunFigures } from './sql-sandbox.ts';

/** What the engine's codes mean to whoever wrote the query. Names as in ClickHouse's ErrorCodes.cpp. */
const REASON_OF_CODE: ReadonlyMap<number, QueryFailure> = new Map<number, QueryFailure>([
  [159, 'timeout'],
  [160, 'timeout'],
  [241, 'memory'],
  [158, 'rows_read'],
  [396, 'result_size'],
  [47, 'unknown_column'],
  [60, 'unknown_table'],
  [46, 'unknown_function'],
  [43, 'type_error'],
  [53, 'type_error'],
  [386, 'type_error'],
  [352, 'duplicate_columns'],
  [164, 'unsupported'],
  [497, 'unsupported'],
]);

/** `QueryFailed` where the query is at fault; the error itself where the engine is. */
export function explainFailure(
  error: EngineError,
  _accepted: Accepted,
  figures: RunFigures | null,
): QueryFailed | EngineError {
  if (error.engineCode === null || error.problem === 'overloaded' || error.problem === 'unreachable')
    return error;
  const reason = REASON_OF_CODE.get(error.engineCode) ?? 'other';
  return new QueryFailed({ reason, detail: QUERY_FAILURES[reason], figures, cause: error });
}
