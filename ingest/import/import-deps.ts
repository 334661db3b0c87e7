import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Versions } from '../write/versions.ts';
import type { Grading } from './grading.ts';
import type { Bounds } from './plan-import.ts';
import type { ImportProgress } from './progress.ts';

export interface ImportOptions extends Bounds {
  /** Leaves blocks out, also of the coverage, of which the files lack something. */
  readonly skipIncomplete: boolean;
  /** The user's word that no block of the files can be undone any more. */
  readonly assumeFinal: boolean;
  /** The user's word that the export was made for every configured contract, though some have no logs in it. */
  readonly allContracts: boolean;
  /** Reads and decodes everything and writes nothing. */
  readonly dryRun: boolean;
}

export interface ImportDeps {
  readonly config: ChainConfig;
  readonly grading: Grading;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly progress: ImportProgress;
  /** How much is worked on at once; both have defaults. Tests make them small. */
  readonly limits?: { readonly logsPerGroup: number; readonly candidatesPerWindow: number };
}
