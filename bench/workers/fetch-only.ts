import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from '../ingest/recording-proxy.ts';
import { startGuarded } from '../support/guarded-process.ts';
import type { Workspace } from '../support/workspace.ts';

/**
 * Sends its requests, so many at once, and discards the answers unread: it measures the time of the node and the kernel alone. Prints
 * when it began and ended.
 */
const FETCHER = `
const { readFileSync } = require('node:fs');
const { Agent, request } = require('node:http');
const [file, url, inFlight] = process.argv.slice(1);
const bodies = JSON.parse(readFileSync(file, 'utf8'));
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const post = (body) => new Promise((resolve, reject) => {
  const sent = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
    answer.resume();
    answer.on('end', resolve);
  });
  sent.on('error', reject);
  sent.end(body);
});
let next = 0;
const work = async () => { while (next < bodies.length) await post(bodies[next++]); };
const began = Date.now();
Promise.all(Array.from({ length: Number(inFlight) }, work)).then(() => console.log('took', began, Date.now()));
`;
const FETCHERS = 2;

/**
 * The node's maximum throughput: the recorded requests of one worker, divided among as many readers as the machine has cores.
 * Milliseconds from the first request to the last answer.
 */
export async function fetchOnly(
  workspace: Workspace,
  nodeUrl: string,
  { requests, inFlightMax }: Recording,
): Promise<number> {
  const took: { readonly began: number; readonly ended: number }[] = [];
  const fetchers = Array.from({ length: FETCHERS }, (_, index) => {
    const file = join(workspace.dir, `requests-${index}.json`);
    writeFileSync(file, JSON.stringify(requests.filter((_request, at) => at % FETCHERS === index)));
    return startGuarded({
      command: process.execPath,
      args: ['-e', FETCHER, file, nodeUrl, String(inFlightMax)],
      onLine(line) {
        const [, began, ended] = /^took (\d+) (\d+)$/.exec(line) ?? [];
        if (began !== undefined && ended !== undefined)
          took.push({ began: Number(began), ended: Number(ended) });
      },
    });
  });
  await Promise.all(fetchers.map((fetcher) => fetcher.exited));
  if (took.length !== FETCHERS) throw new Error('a fetch-only reader failed');
  return Math.max(...took.map(({ ended }) => ended)) - Math.min(...took.map(({ began }) => began));
}
