import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEAD_LETTERS, type DeadLetter } from '../../clickhouse/tables/ingest-state.ts';
import {
  AGENT_EVENTS,
  type AgentEvent,
  ATTESTATIONS,
  type Attestation,
} from '../../clickhouse/tables/registries.ts';
import { SETTLEMENTS, type Settlement, writeSettlement } from '../../clickhouse/tables/settlements.ts';
import {
  columnNames,
  type EncodedEvents,
  type EventWriter,
  encodeEvents,
  eventWriter,
} from '../../clickhouse/tables/table.ts';

/** What a batch of blocks becomes in the tables. */
export interface BatchRows {
  readonly settlements: readonly Settlement[];
  readonly agentEvents: readonly AgentEvent[];
  readonly attestations: readonly Attestation[];
  readonly deadLetters: readonly DeadLetter[];
}

export const NO_ROWS: BatchRows = { settlements: [], agentEvents: [], attestations: [], deadLetters: [] };

/** Rows of all tables together. */
export function countRows({ settlements, agentEvents, attestations, deadLetters }: BatchRows): number {
  return settlements.length + agentEvents.length + attestations.length + deadLetters.length;
}

/** How the rows of one table are written. */
export interface Target {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** Its rows carry grades: a catalogue that is not the published one must not write them. */
  readonly isGraded: boolean;
  /** In pieces, so that other work gets its turns. */
  readonly encode: (rows: BatchRows) => Generator<EncodedEvents>;
}

/** Rows encoded before other work gets a turn: about 5 ms. */
const ROWS_PER_SLICE = 5_000;
/** Rows of registries hold texts of strangers, up to 67 KiB each: a slice stays below 20 MB whatever they wrote. */
const TEXT_ROWS_PER_SLICE = 250;

const writeAgentEvent = eventWriter(AGENT_EVENTS);
const writeAttestation = eventWriter(ATTESTATIONS);
const writeDeadLetter = eventWriter(DEAD_LETTERS);

/** In the order in which they are written. */
export const TARGETS: readonly Target[] = [
  {
    name: 'write-settlements',
    table: SETTLEMENTS.name,
    columns: columnNames(SETTLEMENTS),
    isGraded: true,
    encode: ({ settlements }) => encodeSlices(settlements, writeSettlement, ROWS_PER_SLICE),
  },
  {
    name: 'write-agent-events',
    table: AGENT_EVENTS.name,
    columns: columnNames(AGENT_EVENTS),
    isGraded: false,
    encode: ({ agentEvents }) => encodeSlices(agentEvents, writeAgentEvent, TEXT_ROWS_PER_SLICE),
  },
  {
    name: 'write-attestations',
    table: ATTESTATIONS.name,
    columns: columnNames(ATTESTATIONS),
    isGraded: false,
    encode: ({ attestations }) => encodeSlices(attestations, writeAttestation, TEXT_ROWS_PER_SLICE),
  },
  {
    name: 'write-dead-letters',
    table: DEAD_LETTERS.name,
    columns: columnNames(DEAD_LETTERS),
    isGraded: false,
    encode: ({ deadLetters }) => encodeSlices(deadLetters, writeDeadLetter, TEXT_ROWS_PER_SLICE),
  },
];

/** The rows of a batch as they will be sent. */
export interface EncodedBatch {
  /** Of all tables together. */
  readonly rows: number;
  readonly pieces: ReadonlyMap<Target, readonly EncodedEvents[]>;
}

/** Rejects with `RangeError` for a row that its table cannot hold. */
export async function encodeBatch(rows: BatchRows): Promise<EncodedBatch> {
  const pieces = new Map<Target, EncodedEvents[]>();
  for (const target of TARGETS) {
    const own: EncodedEvents[] = [];
    for (const piece of target.encode(rows)) {
      if (own.length > 0) await nextTurn();
      own.push(piece);
    }
    if (own.length > 0) pieces.set(target, own);
  }
  return { rows: countRows(rows), pieces };
}

function* encodeSlices<Row>(
  rows: readonly Row[],
  write: EventWriter<Row>,
  rowsPerSlice: number,
): Generator<EncodedEvents> {
  for (let at = 0; at < rows.length; at += rowsPerSlice)
    yield encodeEvents(rows.slice(at, at + rowsPerSlice), write, 0);
}
