import type { Clock } from '../../core/clock.ts';
import type { Cost, MeasuredApi } from './api.ts';
import { type Figure, judged, median, quantile, shown } from './measure.ts';

/**
 * What two sides of a race answered, as lists of lines that can be compared: a fast wrong answer is no result.
 *
 * ```ts
 * listed('flows', 'tx_hash', 'usd:amount_usd', 'time:block_time')(body); // one line for each of body.flows
 * ```
 */
export function listed(list: string, ...columns: readonly Column[]): (body: unknown) => string[] {
  return (body) => {
    const found = at(body, list);
    const rows: unknown[] = Array.isArray(found) ? found : [found];
    return rows.map((row) => columns.map((column) => cellOf(row, column)).join(' '));
  };
}

/** A path in a row, perhaps with how its value is spelled, or a function of the row. */
type Column = string | ((row: unknown) => string);

const SPELLINGS: Readonly<Record<string, (value: unknown) => string>> = {
  /** Dollars as the API prints them, in micros; exact below nine billion dollars. */
  usd: (value) => String(Math.round(Number(value) * 1e6)),
  /** Unix seconds. */
  time: (value) => String(Date.parse(String(value)) / 1_000),
};

function cellOf(row: unknown, column: Column): string {
  if (typeof column !== 'string') return column(row);
  const [path = '', spelling = ''] = column.split(':').toReversed();
  return (SPELLINGS[spelling] ?? String)(at(row, path));
}

/** What stands at a path such as `meta.excluded.count` in an answer of our own API; the answer itself for ''. */
export function at(answer: unknown, path: string): unknown {
  if (path === '') return answer;
  let value = answer;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[key]; // JSON
  return value;
}

export function requireSame(what: string, ours: readonly string[], theirs: readonly string[]): void {
  const length = Math.max(ours.length, theirs.length);
  for (let index = 0; index < length; index++) {
    if (ours[index] !== theirs[index])
      throw new Error(`${what}, line ${index + 1}: ours is ${ours[index]}, the peer's ${theirs[index]}`);
  }
}

/** Four standard errors of the estimate (1.6 % with 2^12 registers). */
const ESTIMATE_TOLERANCE = 0.065;
/** Small sets are kept one by one, yet two of their hashes may meet. */
const ESTIMATE_SLACK = 1;

/** Counts that we estimate where the peer counts. */
function requireAbout(what: string, ours: readonly number[], theirs: readonly number[]): void {
  for (const [index, count] of theirs.entries()) {
    const off = Math.abs((ours[index] ?? Number.NaN) - count);
    if (!(off <= count * ESTIMATE_TOLERANCE + ESTIMATE_SLACK))
      throw new Error(`${what}: count ${index + 1} is about ${ours[index]}, the peer says ${count}`);
  }
}

/**
 * Questions to the API as data, and one way to ask them: every answer is compared with the peer's first, which also warms both up; then
 * both are asked in turn, so that a busy moment of the machine affects both.
 */
export interface Question<Asked> {
  /** kebab-case; begins the names of its figures. */
  readonly name: string;
  /** Asked in turn, so that no cache of one answer helps. */
  readonly asks: readonly Ask<Asked>[];
  /** Whether the answer is what the API keeps in memory: its clock then stands still between requests. */
  readonly kept?: boolean | undefined;
  /** Whether the answer must be empty; where it is not said, both will do. */
  readonly findsNothing?: boolean;
  /** Requests before each one, uncounted: what all requests of a second share. */
  readonly before?: readonly string[];
  readonly goals: Goals;
}

interface Ask<Asked> {
  readonly path: string;
  /** The same question in other words for each round, where its answer would be kept in memory. */
  readonly reworded?: ((round: number) => string) | undefined;
  /** The lines of our answer, spelled as the peer's. */
  readonly lines: (body: unknown) => readonly string[];
  /** Counts that we estimate where the peer counts. */
  readonly about?: ((body: unknown) => readonly number[]) | undefined;
  /** The same, put to the peer; absent where it is not asked. */
  readonly peer?: Asked | undefined;
}

/** Whom we are compared with. Its name is part of the names of figures; it may tell the rows that it read. */
export interface Peer<Asked> {
  readonly name: string;
  ask(asked: Asked): Promise<PeerAnswer>;
}

interface PeerAnswer {
  readonly ms: number;
  readonly lines: readonly string[];
  readonly about?: readonly number[] | undefined;
  readonly rowsRead?: number;
}

/** A figure without a goal is only shown. */
interface Goals {
  readonly p50Max?: number | undefined;
  /** For the time in the API process. */
  readonly apiP50Max?: number | undefined;
  readonly rowsReadBelow?: number | undefined;
  /** How many times ours the median of the peer must be, at the client and in the engine. */
  readonly fasterThanPeer?: number | undefined;
  readonly engineFasterThanPeer?: number | undefined;
  readonly readOfPeerPercentBelow?: number | undefined;
}

export interface Effort {
  readonly rounds: number;
  /** In which the peer is asked. */
  readonly peerRounds: number;
  readonly asksMax: number;
  /** Rounds of a question end here, whichever side is slow, once it has been asked a few times. */
  readonly msMax: number;
  /** Requests before an answer from memory is measured: until V8 has compiled the path of a request, it takes several times as long. */
  readonly keptWarmUp: number;
}

interface AskDeps<Asked> {
  readonly api: MeasuredApi;
  readonly clock: MovingClock;
  readonly peer: Peer<Asked> | undefined;
  readonly effort: Effort;
}

const ROUNDS_MIN = 5;
/** Has freshness and names loaded, which all requests of a second share and no peer is asked for; no answer of a wallet. */
export const NOBODY = `0x${'0'.repeat(36)}dead`;
export const FACTS_OF_THE_INDEX = `/v0/entities/${NOBODY}/settlements?limit=1`;

export async function askQuestion<Asked>(
  question: Question<Asked>,
  { api, clock, peer, effort }: AskDeps<Asked>,
): Promise<Figure[]> {
  const { name, kept = false, before = kept ? [] : [FACTS_OF_THE_INDEX], goals } = question;
  const asks = question.asks.slice(0, effort.asksMax);
  for (const ask of asks) await verify(question, ask, { api, peer });
  const askOf = (round: number): Ask<Asked> => {
    const ask = asks[round % asks.length];
    if (ask === undefined) throw new Error(`${name}: nothing to ask`);
    return ask;
  };
  for (let done = asks.length; kept && done < effort.keptWarmUp; done++) await api.get(askOf(done).path);
  const costs: Cost[] = [];
  const theirs: PeerAnswer[] = [];
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began > effort.msMax;
  for (let round = 0; round < effort.rounds && !(round >= ROUNDS_MIN && isOver()); round++) {
    const ask = askOf(round);
    if (!kept) clock.move();
    for (const path of before) await api.get(path);
    const reworded = kept ? undefined : ask.reworded?.(round);
    costs.push((await api.get(reworded ?? ask.path)).cost);
    if (round < effort.peerRounds) theirs.push(...(await askPeer(ask, peer)));
  }
  const figures = costFigures(name, costs, goals);
  if (peer === undefined || theirs.length === 0) return figures;
  return [...figures, ...peerFigures(question, peer.name, { costs, theirs })];
}

/** Nothing where the peer is not asked. */
async function askPeer<Asked>(ask: Ask<Asked>, peer: Peer<Asked> | undefined): Promise<PeerAnswer[]> {
  return peer === undefined || ask.peer === undefined ? [] : [await peer.ask(ask.peer)];
}

async function verify<Asked>(
  { name, findsNothing }: Question<Asked>,
  ask: Ask<Asked>,
  { api, peer }: Pick<AskDeps<Asked>, 'api' | 'peer'>,
): Promise<void> {
  const { body } = await api.get(ask.path);
  const lines = ask.lines(body);
  const what = `${name} ${ask.path}`;
  if (findsNothing !== undefined && (lines.length === 0) !== findsNothing)
    throw new Error(`${what} answered ${lines.length} rows`);
  for (const theirs of await askPeer(ask, peer)) {
    requireSame(what, lines, theirs.lines);
    requireAbout(what, ask.about?.(body) ?? [], theirs.about ?? []);
  }
}

/** What requests of one kind cost: latency at the client, of it the API's and the engine's part, and the most rows read. */
export function costFigures(name: string, costs: readonly Cost[], goals: Goals = {}): Figure[] {
  const total = costs.map(({ totalMs }) => totalMs);
  const api = median(costs.map(({ apiMs }) => apiMs));
  const rowsRead = Math.max(...costs.map((cost) => cost.rowsRead));
  return [
    judged(`${name}-p50`, median(total), 'ms', '<=', goals.p50Max),
    shown(`${name}-p99`, quantile(total, 0.99), 'ms'),
    judged(`${name}-api-p50`, api, 'ms', '<=', goals.apiP50Max),
    shown(`${name}-engine-p50`, median(costs.map(({ engineMs }) => engineMs)), 'ms'),
    judged(`${name}-rows-read-max`, rowsRead, 'rows', '<', goals.rowsReadBelow),
  ];
}

function peerFigures(
  { name, goals }: { readonly name: string; readonly goals: Goals },
  peer: string,
  { costs, theirs }: { readonly costs: readonly Cost[]; readonly theirs: readonly PeerAnswer[] },
): Figure[] {
  const times = theirs.map(({ ms }) => ms);
  const ratio = (ours: readonly number[]): number => median(times) / median(ours);
  const ofEngine = ratio(costs.map(({ engineMs }) => engineMs));
  const faster = ratio(costs.map(({ totalMs }) => totalMs));
  const read = theirs.flatMap(({ rowsRead }) => rowsRead ?? []);
  const share = (Math.max(...costs.map(({ rowsRead }) => rowsRead)) / Math.min(...read)) * 100;
  const readOfPeer = judged(`${name}-read-of-${peer}`, share, '%', '<', goals.readOfPeerPercentBelow);
  const engineRatio = `${name}-engine-faster-than-${peer}`;
  return [
    shown(`${name}-${peer}-p50`, median(times), 'ms'),
    shown(`${name}-${peer}-p99`, quantile(times, 0.99), 'ms'),
    // An answer from memory asks the engine nothing.
    ...(Number.isFinite(ofEngine)
      ? [judged(engineRatio, ofEngine, 'x', '>=', goals.engineFasterThanPeer)]
      : []),
    judged(`${name}-faster-than-${peer}`, faster, 'x', '>=', goals.fasterThanPeer),
    ...(read.length === 0 ? [] : [readOfPeer]),
  ];
}

/** The API's clock. Each move makes the next request get no answer that a route cached for less than that. */
export interface MovingClock extends Clock {
  move(): void;
}

/** `stepMs` ahead with each move, for a clock that `returns` forth and back: then every run takes place on one day. */
export function createMovingClock(startSeconds: number, stepMs: number, returns: boolean): MovingClock {
  const beganMs = startSeconds * 1_000 - performance.now();
  let moves = 0;
  return {
    nowMs: () => Math.floor(beganMs + performance.now() + stepMs * (returns ? moves % 2 : moves)),
    move() {
      moves += 1;
    },
  };
}
