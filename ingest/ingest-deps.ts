import type { Writer } from '../clickhouse/engine/engine.ts';
import type { Config } from '../core/config/config.ts';
import type { Log } from '../core/log.ts';
import type { WorkObservation } from './follow/observe-work.ts';

/** What an ingest process works with. */
export interface IngestDeps {
  readonly config: Config;
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly terminal: ((line: string) => void) | null;
  /** Who counts and traces; default: nobody. */
  readonly observation?: WorkObservation;
}
