import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { chainOf } from '../../../core/domain/chains.ts';
import { askSupported, readSupported } from '../../../ingest/grading/supported.ts';
import { wallet } from '../../kit/chain-logs.ts';

const [BASE, POLYGON, ETHEREUM] = [chainOf(8453), chainOf(137), chainOf(1)];
const OURS = [BASE, POLYGON];
const never = new AbortController().signal;
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

const ANSWER = {
  kinds: [
    { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
    { x402Version: 1, scheme: 'exact', network: 'polygon', extra: null },
    { x402Version: 2, scheme: 'exact', network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
  ],
  extensions: ['bazaar'],
  signers: {
    'eip155:*': [wallet(1)],
    'eip155:137': [wallet(2), 'not an address', 7],
    'eip155:1': [wallet(3)],
    'solana:*': ['CKPKJWNdJEqa81x7CkZ14BVPiY6y16Sxs7owznqtWYp5'],
  },
};

test('signers are read per network; other chains and other things are passed over', async () => {
  const url = await serve((request, response) =>
    response.end(request.url === '/x402/supported' ? JSON.stringify(ANSWER) : '{}'),
  );
  expect(await askSupported(`${url}/x402/`, OURS, never)).toEqual([
    { chain: BASE, address: wallet(1) },
    { chain: POLYGON, address: wallet(1) },
    { chain: POLYGON, address: wallet(2) },
  ]);
});

test('a wildcard stands for the chains that are served, not for every chain of ours', () => {
  const base = { ...ANSWER, kinds: [{ network: 'base' }] };
  expect(readSupported(JSON.stringify(base), [...OURS, ETHEREUM])).toEqual([
    { chain: BASE, address: wallet(1) },
    { chain: POLYGON, address: wallet(2) },
    { chain: ETHEREUM, address: wallet(3) },
  ]);
});

describe('an answer that cannot be used is named by its kind', () => {
  test.each([
    ['not_json', '<html>'],
    ['no_signers', '{"kinds":[]}'],
    ['no_signers', '[1]'],
    ['no_signers', '{"signers":["0x"]}'],
    ['no_signers', 'null'],
    [
      'too_many_signers',
      JSON.stringify({ signers: { 'eip155:8453': Array.from({ length: 1_001 }, (_, n) => wallet(n + 1)) } }),
    ],
  ])('%s', (problem, text) => {
    expect(readSupported(text, OURS)).toBe(problem);
  });

  test('an answer without end is left at its first megabyte', async () => {
    let sent = 0;
    const url = await serve((_request, response) => {
      const chunk = Buffer.alloc(65_536, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    expect(await askSupported(url, OURS, never)).toBe('too_large');
    expect(sent).toBeLessThan(50_000_000);
  });

  test('an answer that does not come', async () => {
    const url = await serve(() => undefined);
    expect(await askSupported(url, OURS, never, 100)).toBe('timeout');
  });

  test('an answer that stops in the middle', async () => {
    const url = await serve((_request, response) => response.write('{"signers":'));
    expect(await askSupported(url, OURS, never, 200)).toBe('timeout');
  });

  test('a redirect elsewhere is not followed', async () => {
    let asked = 0;
    const elsewhere = await serve((_request, response) => {
      asked++;
      response.end(JSON.stringify(ANSWER));
    });
    const url = await serve((_request, response) => {
      response.writeHead(302, { location: `${elsewhere}/supported` }).end();
    });
    expect(await askSupported(url, OURS, never)).toBe('redirected');
    expect(asked).toBe(0);
  });

  test('a refusal, and no server at all', async () => {
    const url = await serve((_request, response) => response.writeHead(500).end(JSON.stringify(ANSWER)));
    expect(await askSupported(url, OURS, never)).toBe('refused');
    const gone = await serve(() => undefined);
    await new Promise((closed) => servers.pop()?.close(closed));
    expect(await askSupported(gone, OURS, never)).toBe('unreachable');
  });
});

test('credentials in the URL travel as a header and not in the path', async () => {
  let authorization: string | undefined;
  const url = await serve((request, response) => {
    ({ authorization } = request.headers);
    response.end(JSON.stringify(ANSWER));
  });
  await askSupported(url.replace('//', '//me:s%2Fcret@'), OURS, never);
  expect(authorization).toBe(`Basic ${Buffer.from('me:s/cret').toString('base64')}`);
});

test('a worker that stops does not take the abort for an answer', async () => {
  const url = await serve(() => undefined);
  const stopping = new AbortController();
  const asking = askSupported(url, OURS, stopping.signal);
  stopping.abort();
  await expect(asking).rejects.toThrow('aborted');
});
