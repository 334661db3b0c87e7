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

function read({ url, headers, body }: StreamRequest): Promise<StreamReply> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const outgoing = request(url, { method: 'POST', headers }, (incoming: IncomingMessage) => {
      let bytes = 0;
      let lines = 0;
      let start = '';
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (start.length < START_CHARS) start += chunk.toString('latin1', 0, START_CHARS);
        for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
      });
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          ms: performance.now() - began,
          bytes,
          lines,
          start: start.slice(0, START_CHARS),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

if (process.argv[2] === 'serve') {
  for await (const line of createInterface({ input: process.stdin })) {
    const reply = await read(JSON.parse(line) as StreamRequest); // our own bench wrote it
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
}
