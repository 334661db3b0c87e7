import { connect } from 'node:net';

/**
 * Requests one URL over keep-alive connections, one request at a time on each, for a while; prints how many good answers came. A
 * process of its own, so that the server keeps its core. Arguments: URL, key or '', connections, milliseconds.
 */

const [url = '', key = '', connections = '', milliseconds = ''] = process.argv.slice(2);
const { hostname: host, port, pathname, search } = new URL(url);
const keyLine = key === '' ? '' : `x-api-key: ${key}\r\n`;
const REQUEST = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}:${port}\r\n${keyLine}\r\n`);
const GOOD = Buffer.from('HTTP/1.1 200');
const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /content-length: (\d+)/i;

let good = 0;
let bad = 0;
let isOver = false;

/** Whether all bytes of the answer are there. */
function isWhole(received: Buffer): boolean {
  const end = received.indexOf(HEAD_END);
  if (end < 0) return false;
  const length = LENGTH.exec(received.toString('latin1', 0, end))?.[1];
  if (length === undefined) throw new Error('an answer without a length');
  return received.length >= end + HEAD_END.length + Number(length);
}

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const socket = connect({ host, port: Number(port), noDelay: true }, () => socket.write(REQUEST));
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (!isWhole(received)) return;
      if (received.subarray(0, GOOD.length).equals(GOOD)) good += 1;
      else bad += 1;
      received = Buffer.alloc(0);
      if (isOver) socket.end(resolve);
      else socket.write(REQUEST);
    });
    socket.on('error', reject);
  });
}

const began = performance.now();
setTimeout(() => {
  isOver = true;
}, Number(milliseconds));
await Promise.all(Array.from({ length: Number(connections) }, ask));
console.log(JSON.stringify({ good, bad, ms: performance.now() - began }));
