import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';

/**
 * Reads answers to their end and discards them, in a process of its own, so that it takes no time of either server. Each line of
 * JSON on stdin is a request, each line on stdout its result.
 */
export interface StreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface StreamReply {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  /** Line ends, for text formats. */
  readonly lines: number;
  readonly start: string;
}

const NEWLINE = 0x0a;
const START_CHARS = 400;

async function read({ url, headers, body }: StreamRequest): Promise<StreamReply> {
  const began = performance.now();
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method: 'POST', headers }, resolve).on('error', reject).end(body);
  });
  let [bytes, lines, start] = [0, 0, ''];
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (start.length < START_CHARS) start += chunk.toString('latin1', 0, START_CHARS);
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  });
  await new Promise((resolve, reject) => incoming.on('error', reject).on('end', resolve));
  return { status: incoming.statusCode ?? 0, ms: performance.now() - began, bytes, lines, start };
}

if (process.argv[2] === 'serve') {
  for await (const line of createInterface({ input: process.stdin })) {
    const reply = await read(JSON.parse(line) as StreamRequest); // our own bench wrote it
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
}
