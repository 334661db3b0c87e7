import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { QueryProgress } from '../../../clickhouse/engine/engine.ts';

/**
 * Headers `X-ClickHouse-Progress`, which leave while the query runs, before the other headers of the same answer: clients ask for them to
 * see how far it is, and so that nothing on the way closes a silent connection. The status leaves with the first of them and is 200, as
 * from a ClickHouse server: a failure after that has the header `X-ClickHouse-Exception-Code`, which clients look for, and its text as
 * body. A query that fails before it is seen running is answered with its own status. Source: ClickHouse documentation, "HTTP Interface".
 */
export interface ProgressOrder {
  /** Milliseconds between two of them, as the client asks. */
  readonly intervalMs: number;
  /** Null while nothing is known. */
  look(): Promise<QueryProgress | null>;
}

/** The engine is asked for each header. */
const INTERVAL_MIN_MS = 1_000;
const INTERVAL_MAX_MS = 120_000;
/**
 * Between two headers a fifth of the time so far passes: 30 of them (5 KB) in 300 seconds. Node's clients take 16 KiB of headers, Python's
 * take 100 headers, and proxies often 8 KiB.
 */
const PAUSES = 5;

const NS_PER_MS = 1_000_000;

/** Sends them until the function that it gives back is called, which must be before the answer is sent. */
export function sendProgress(raw: ServerResponse, { intervalMs, look }: ProgressOrder): () => void {
  const startedMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let [hasBegun, isOver] = [false, false];
  const wait = (): void => {
    const pauseMs = Math.max(intervalMs, INTERVAL_MIN_MS, (performance.now() - startedMs) / PAUSES);
    timer = setTimeout(send, Math.min(pauseMs, INTERVAL_MAX_MS)).unref();
  };
  const send = async (): Promise<void> => {
    const now = await look().catch(() => null);
    if (isOver) return;
    const { socket } = raw; // null while an earlier answer of the connection is sent
    if (now !== null && socket?.writable) {
      socket.write(`${hasBegun ? '' : 'HTTP/1.1 200 OK\r\n'}X-ClickHouse-Progress: ${progressText(now)}\r\n`);
      hasBegun = true;
    }
    wait();
  };
  wait();
  return () => {
    if (hasBegun && !isOver && raw.socket !== null) dropStatusLine(raw.socket);
    isOver = true;
    clearTimeout(timer);
  };
}

/** Node begins an answer with its status line and headers as one text; here the status line has left already. */
function dropStatusLine(socket: Socket): void {
  const { write } = socket;
  const once = (head: string | Buffer, ...rest: []): boolean => {
    socket.write = write;
    return write.call(socket, head.slice(head.indexOf('\r\n') + 2), ...rest);
  };
  socket.write = once as Socket['write']; // the arguments are handed on as they come
}

/** Numbers as texts, as the engine writes them. */
function progressText({ readRows, readBytes, totalRows, elapsedMs, memoryBytes }: QueryProgress): string {
  return JSON.stringify({
    read_rows: String(readRows),
    read_bytes: String(readBytes),
    total_rows_to_read: String(totalRows),
    elapsed_ns: String(Math.round(elapsedMs * NS_PER_MS)),
    memory_usage: String(Math.max(0, memoryBytes)),
  });
}
