import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../core/log.ts';
import type { FetchedDocument, FetchOptions } from '../../../ingest/fetch/document.ts';
import {
  createSafeFetcher,
  type SafeFetchDeps,
  type SafeFetchSettings,
} from '../../../ingest/fetch/safe-fetch.ts';
import { type AddressClass, classifyAddress, type ResolveHost } from '../../../ingest/fetch/target.ts';
import { selfSigned } from '../../kit/self-signed.ts';
import { rawServer, type StrangerServer, strangerServer } from '../../kit/stranger-server.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const SETTINGS: SafeFetchSettings = {
  ipfsGateways: [],
  allowPrivateHosts: false,
  allowHttp: true,
  ports: [],
};
const TRIAL: SafeFetchSettings = { ...SETTINGS, allowPrivateHosts: true };
/** Plays the public Internet, where tests have none; real sockets all the same. */
const PUBLIC = '127.0.0.2';
const CID = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';

const servers: StrangerServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(...parameters: Parameters<typeof strangerServer>): Promise<StrangerServer> {
  const server = await strangerServer(...parameters);
  servers.push(server);
  return server;
}

async function speak(...parameters: Parameters<typeof rawServer>): Promise<StrangerServer> {
  const server = await rawServer(...parameters);
  servers.push(server);
  return server;
}

function classify(address: string): AddressClass {
  return address === PUBLIC ? 'public' : classifyAddress(address);
}

/** Names to addresses; each question takes the next answer, the last one stays. */
function resolverOf(
  names: Record<string, readonly (readonly string[])[]>,
): ResolveHost & { asked: string[] } {
  const asked: string[] = [];
  const resolve: ResolveHost = async (hostname) => {
    const answers = names[hostname] ?? [];
    const nth = asked.filter((name) => name === hostname).length;
    asked.push(hostname);
    return answers[Math.min(nth, answers.length - 1)] ?? [];
  };
  return Object.assign(resolve, { asked });
}

async function get(
  uri: string,
  deps: Partial<Omit<SafeFetchDeps, 'settings'>> & { readonly settings?: SafeFetchSettings } = {},
  options: Partial<FetchOptions> = {},
): Promise<FetchedDocument> {
  const fetcher = createSafeFetcher({
    settings: TRIAL,
    log: createLog('silent', 'test'),
    classify,
    ...deps,
  });
  return fetcher.fetch(uri, { maxBytes: 1_000, signal: new AbortController().signal, ...options });
}

/** The text of the file, or the problem. */
async function read(...parameters: Parameters<typeof get>): Promise<string> {
  const document = await get(...parameters);
  return document.ok ? Buffer.from(document.bytes).toString('utf8') : document.problem;
}

const hello: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'Application/JSON; charset=utf-8').end('{"hello":1}');
};

describe('a file', () => {
  test('is read with its media type and the URL that it came from', async () => {
    const { port } = await serve(hello);
    expect(await get(`  http://127.0.0.1:${port}/a?b=c#d `)).toEqual({
      ok: true,
      bytes: Buffer.from('{"hello":1}'),
      mediaType: 'application/json',
      finalUrl: `http://127.0.0.1:${port}/a?b=c`,
    });
  });

  test('is asked for without cookies, credentials or a connection that stays', async () => {
    let headers: unknown;
    const server = await serve((request, response) => {
      headers = request.headers;
      response.setHeader('set-cookie', 'a=b').end('x');
    });
    await read(`http://127.0.0.1:${server.port}/`);
    expect(headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'close',
      accept: expect.any(String),
      'accept-encoding': 'gzip, deflate',
      'user-agent': expect.any(String),
    });
    await waitUntil('the connection is closed', () => server.open() === 0);
  });

  test('is followed through redirects of every kind, and extra headers stay with the origin they were meant for', async () => {
    const seen: unknown[] = [];
    const target = await serve((request, response) => {
      seen.push(request.headers['x-extra']);
      response.end('there');
    });
    const start = await serve((request, response) => {
      seen.push(request.headers['x-extra']);
      const next = request.url === '/1' ? '2' : `http://127.0.0.1:${target.port}/`;
      response.writeHead(request.url === '/1' ? 301 : 308, { location: next }).end('ignored');
    });
    expect(await read(`http://127.0.0.1:${start.port}/1`, {}, { headers: { 'x-extra': 'e' } })).toBe('there');
    expect(seen).toEqual(['e', 'e', undefined]);
  });

  test('of another type than asked for is not read', async () => {
    const { port } = await serve(hello);
    const mediaTypes = ['text/html'];
    expect(await read(`http://127.0.0.1:${port}/`, {}, { mediaTypes })).toBe('wrong_media_type');
    expect(await read('data:text/plain,x', {}, { mediaTypes })).toBe('wrong_media_type');
    expect(await read('data:text/html;charset=x,x', {}, { mediaTypes })).toBe('x');
  });

  test.each([
    ['', 'empty_uri'],
    ['  ', 'empty_uri'],
    ['ftp://8.8.8.8/', 'unsupported_scheme'],
    ['file:///etc/passwd', 'unsupported_scheme'],
    ['javascript:alert(1)', 'unsupported_scheme'],
    ['ipns://example.com', 'unsupported_scheme'],
    ['card.json', 'malformed_uri'],
    ['//8.8.8.8/', 'malformed_uri'],
    ['http://', 'malformed_uri'],
    ['http://user:pass@8.8.8.8/', 'malformed_uri'],
    ['http://user@8.8.8.8/', 'malformed_uri'],
    ['http://[fe80::1%25eth0]/', 'malformed_uri'],
    [`http://8.8.8.8/${'x'.repeat(5_000)}`, 'malformed_uri'],
    ['ipfs://nothing', 'malformed_uri'],
    ['data:x', 'malformed_uri'],
  ])('named %j is no file: %s', async (uri, problem) => {
    expect(await read(uri, { settings: SETTINGS })).toBe(problem);
  });

  test('over plain HTTP is only read where the configuration allows it', async () => {
    const strict = { ...SETTINGS, allowHttp: false };
    expect(await read('http://8.8.8.8/', { settings: strict })).toBe('unsupported_scheme');
    const resolve = resolverOf({ 'public.test': [[PUBLIC]] });
    // A trial opens loopback, not the Internet.
    const trial = { ...TRIAL, allowHttp: false };
    expect(await read('http://public.test/', { settings: trial, resolve })).toBe('unsupported_scheme');
  });

  test('is not asked for at other ports than the web has', async () => {
    const { port, asked } = await serve(hello, PUBLIC);
    const resolve = resolverOf({ 'public.test': [[PUBLIC]] });
    const at = (path: string): string => `http://public.test:${port}/${path}`;
    expect(await read(at('a'), { settings: SETTINGS, resolve })).toBe('forbidden_port');
    expect(await read(at('b'), { settings: { ...SETTINGS, ports: [port] }, resolve })).toBe('{"hello":1}');
    expect(asked).toEqual(['/b']);
  });
});

describe('no private host is reached', () => {
  const private_ = [
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    '127.0.0.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.01',
    '127.1',
    '0',
    '0.0.0.0',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '１２７.0.0.1',
    '127。0。0。1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '100.64.0.1',
    '10.0.0.1',
    '192.168.0.1',
  ];

  test.each(private_)('named %s', async (host) => {
    const server = await serve(hello);
    const settings = { ...SETTINGS, ports: [server.port] };
    const uri = `http://${host}:${server.port}/`;
    expect(await read(uri, { settings, deadlineMs: 2_000 })).toBe('forbidden_address');
    expect(server.asked).toEqual([]);
    expect(server.open()).toBe(0);
  });

  test.each([
    ['127.0.0.1'],
    ['0.0.0.0'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    ['fe80::1%lo'],
    ['not an address'],
  ])('by a name that resolves to %s', async (address) => {
    const server = await serve(hello);
    const settings = { ...SETTINGS, ports: [server.port] };
    const resolve = resolverOf({ 'evil.test': [[address]] });
    expect(await read(`http://evil.test:${server.port}/`, { settings, resolve })).toBe('forbidden_address');
    expect(server.open()).toBe(0);
  });

  test('by a redirect, to an address or to a name', async () => {
    const inner = await serve(hello);
    let location = '';
    const outer = await serve((_request, response) => {
      response.writeHead(302, { location }).end();
    }, PUBLIC);
    const resolve = resolverOf({ 'outer.test': [[PUBLIC]], 'inner.test': [['127.0.0.1']] });
    const settings = { ...SETTINGS, ports: [outer.port, inner.port] };
    for (const host of ['127.0.0.1', 'inner.test', '[::ffff:127.0.0.1]', '2130706433']) {
      location = `http://${host}:${inner.port}/`;
      expect(await read(`http://outer.test:${outer.port}/`, { settings, resolve })).toBe('forbidden_address');
    }
    for (const scheme of ['file:///etc/passwd', 'data:,x', `ipfs://${CID}`, 'gopher://127.0.0.1/']) {
      location = scheme;
      expect(await read(`http://outer.test:${outer.port}/`, { settings, resolve })).toBe(
        'unsupported_scheme',
      );
    }
    expect(inner.asked).toEqual([]);
  });

  test('by a name that resolves to a public address first and to a private one then', async () => {
    const inner = await serve(hello);
    const outer = await serve((request, response) => {
      if (request.url === '/') response.end('outer');
      else response.writeHead(302, { location: `http://rebind.test:${inner.port}/secret` }).end();
    }, PUBLIC);
    const settings = { ...SETTINGS, ports: [outer.port, inner.port] };
    const rebinding = (): ReturnType<typeof resolverOf> =>
      resolverOf({ 'rebind.test': [[PUBLIC], ['127.0.0.1']] });
    // One question per hop: the address that was judged is the one that is connected to.
    const once = rebinding();
    expect(await read(`http://rebind.test:${outer.port}/`, { settings, resolve: once })).toBe('outer');
    expect(once.asked).toEqual(['rebind.test']);
    // A redirect to itself asks again, and judges again.
    const twice = rebinding();
    const uri = `http://rebind.test:${outer.port}/again`;
    expect(await read(uri, { settings, resolve: twice })).toBe('forbidden_address');
    expect(inner.asked).toEqual([]);
  });

  test('by a name with a public and a private address: only the public one is asked', async () => {
    const outer = await serve((_request, response) => response.end('outer'), PUBLIC);
    const inner = await speak((socket) => socket.destroy(), '127.0.0.1', outer.port);
    const settings = { ...SETTINGS, ports: [outer.port] };
    const resolve = resolverOf({ 'both.test': [['127.0.0.1', '::1', PUBLIC, '10.0.0.1']] });
    expect(await read(`http://both.test:${outer.port}/`, { settings, resolve })).toBe('outer');
    expect(inner.connections()).toBe(0);
  });

  test('in a trial either, but for loopback', async () => {
    const { port } = await serve(hello);
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433'])
      expect(await read(`http://${host}:${port}/`)).toBe('{"hello":1}');
    for (const host of ['169.254.169.254', '0.0.0.0', '[::]', '10.0.0.1', '[fe80::1]', '[fd00:ec2::254]'])
      expect(await read(`http://${host}:${port}/`, { deadlineMs: 2_000 })).toBe('forbidden_address');
  });
});

describe('a host costs bounded time', () => {
  const deadlineMs = 300;

  async function timed(uri: string, deps: Parameters<typeof get>[1] = {}): Promise<string> {
    const started = performance.now();
    const outcome = await read(uri, { deadlineMs, ...deps });
    expect(performance.now() - started).toBeLessThan(deadlineMs + 5_000);
    return outcome;
  }

  test('when it never answers, stops in its headers, drips its body, or drips its headers', async () => {
    const drip =
      (head: string): ((socket: import('node:net').Socket) => void) =>
      (socket) => {
        socket.write(head);
        const timer = setInterval(() => socket.write('a'), 20);
        socket.once('close', () => clearInterval(timer));
      };
    const hosts = [
      await speak(() => undefined),
      await speak((socket) => socket.write('HTTP/1.1 200 OK\r\nconten')),
      await speak(drip('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n')),
      await speak(drip('HTTP/1.1 200 OK\r\nx-a: ')),
    ];
    for (const { port } of hosts) expect(await timed(`http://127.0.0.1:${port}/`)).toBe('timeout');
    await waitUntil('every connection is closed', () => hosts.every((host) => host.open() === 0));
  });

  test('when its name server never answers, or the handshake never ends', async () => {
    expect(await timed('http://slow.test/', { resolve: () => new Promise(() => undefined) })).toBe('timeout');
    const silent = await speak(() => undefined);
    expect(await timed(`https://127.0.0.1:${silent.port}/`)).toBe('timeout');
    await waitUntil('the connection is closed', () => silent.open() === 0);
  });

  test('when it redirects for ever: a few hops, one deadline for all of them', async () => {
    const loop = await serve((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url?.slice(1) || 0) + 1}` }).end();
    });
    expect(await timed(`http://127.0.0.1:${loop.port}/`)).toBe('too_many_redirects');
    expect(loop.asked).toEqual(['/', '/1', '/2', '/3', '/4']);
    const slow = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 200);
    });
    expect(await timed(`http://127.0.0.1:${slow.port}/`)).toBe('timeout');
  });

  test('when the caller gives up: it throws his reason and hangs up', async () => {
    const silent = await speak(() => undefined);
    const ending = new AbortController();
    const reading = read(`http://127.0.0.1:${silent.port}/`, {}, { signal: ending.signal });
    await waitUntil('it is connected', () => silent.open() === 1);
    ending.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await waitUntil('the connection is closed', () => silent.open() === 0);
    await expect(read('data:,x', {}, { signal: ending.signal })).rejects.toThrow('enough');
  });
});

describe('a host costs bounded memory', () => {
  const at = ({ port }: StrangerServer): string => `http://127.0.0.1:${port}/`;

  test('a body of the bound is read, one byte more is not, said or unsaid', async () => {
    const server = await serve((request, response) => {
      const body = Buffer.alloc(request.url === '/fits' ? 1_000 : 1_001, 'x');
      if (request.url === '/said') response.setHeader('content-length', body.length);
      response.write(body);
      response.end();
    });
    expect(await read(`${at(server)}fits`)).toHaveLength(1_000);
    expect(await read(`${at(server)}said`)).toBe('too_large');
    expect(await read(`${at(server)}unsaid`)).toBe('too_large');
  });

  test('endless bodies, bombs and floods of headers leave nothing behind', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    // Within the bound until it is unpacked.
    const smallBomb = gzipSync(Buffer.alloc(500_000));
    const chunk = Buffer.alloc(65_536, 'x');
    // A stored block of no bytes: five bytes of gzip that never unpack to anything.
    const nothing = Buffer.concat([
      gzipSync('').subarray(0, 10),
      Buffer.alloc(65_530, Buffer.from('000000ffff', 'hex')),
    ]);
    const pour = (socket: import('node:net').Socket, what: Buffer | string): void => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(what));
      };
      socket.on('drain', more);
      more();
    };
    const head = 'HTTP/1.1 200 OK\r\n';
    const hosts = [
      await speak((socket) => {
        socket.write(`${head}\r\n`);
        pour(socket, chunk);
      }),
      await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb)),
      await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(smallBomb)),
      await speak((socket) => {
        socket.write(`${head}content-encoding: gzip\r\n\r\n`);
        socket.write(nothing.subarray(0, 10));
        pour(socket, nothing.subarray(10));
      }),
      await speak((socket) => {
        socket.write(head);
        pour(socket, `x-header: ${'y'.repeat(1_000)}\r\n`);
      }),
      await speak((socket) => {
        socket.write(head);
        pour(socket, 'y'.repeat(10_000));
      }),
    ];
    await Promise.all(hosts.map((host) => read(at(host)))); // modules and buffers that stay are loaded
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 8; round++) {
      const outcomes = await Promise.all(hosts.map((host) => read(at(host))));
      expect(new Set(outcomes)).toEqual(new Set(['too_large']));
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(64_000_000);
    await waitUntil('every connection is closed', () => hosts.every((host) => host.open() === 0));
  });

  test('packed files are read, in one layer; a file that cannot be unpacked is none', async () => {
    const packed = gzipSync('packed');
    const server = await serve((request, response) => {
      const encoding = decodeURIComponent(request.url?.slice(1) ?? '');
      response.setHeader('content-encoding', encoding);
      response.end(
        encoding.includes(',') ? gzipSync(packed) : packed.subarray(0, encoding === 'GZIP' ? 12 : 100),
      );
    });
    const of = (encoding: string): Promise<string> => read(`${at(server)}${encodeURIComponent(encoding)}`);
    expect(await of('gzip')).toBe('packed');
    expect(await of('x-gzip')).toBe('packed');
    expect(await of('GZIP')).toBe('broken_encoding');
    expect(await of('gzip, gzip')).toBe('broken_encoding');
    expect(await of('deflate')).toBe('broken_encoding');
    expect(await of('br')).toBe('broken_encoding');
  });
});

describe('a broken host is a problem of its own', () => {
  test.each([
    [404, 'refused'],
    [500, 'refused'],
    [204, 'refused'],
    [206, 'refused'],
    [302, 'refused'],
    [304, 'refused'],
  ])('status %s: %s', async (status, problem) => {
    const { port } = await serve((_request, response) => response.writeHead(status).end());
    expect(await read(`http://127.0.0.1:${port}/`)).toBe(problem);
  });

  test('that refuses, hangs up, or speaks something else', async () => {
    const gone = await serve(hello);
    await gone.close();
    expect(await read(`http://127.0.0.1:${gone.port}/`)).toBe('unreachable');
    const hangsUp = await speak((socket) => socket.destroy());
    expect(await read(`http://127.0.0.1:${hangsUp.port}/`)).toBe('unreachable');
    expect(await read(`https://127.0.0.1:${hangsUp.port}/`)).toBe('unreachable');
    const ssh = await speak((socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await read(`http://127.0.0.1:${ssh.port}/`)).toBe('unreachable');
    expect(await read(`https://127.0.0.1:${ssh.port}/`)).toBe('unreachable');
    const short = await speak((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
    expect(await read(`http://127.0.0.1:${short.port}/`)).toBe('unreachable');
  });

  test('whose answer is not wanted is hung up on, however much it says', async () => {
    const endless: RequestListener = (request, response) => {
      response.writeHead(request.url === '/moved' ? 302 : 404, { location: '/gone' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    };
    const server = await serve(endless);
    expect(await read(`http://127.0.0.1:${server.port}/moved`)).toBe('refused');
    await waitUntil('every connection is closed', () => server.open() === 0);
  });

  test('that redirects to nonsense', async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(302, { location: 'http://[' }).end();
    });
    expect(await read(`http://127.0.0.1:${port}/`)).toBe('malformed_uri');
  });
});

describe('HTTPS', () => {
  test('is spoken with the name in the URL, at the address that was judged, and only with a valid certificate', async () => {
    const tls = selfSigned('good.test');
    const names: unknown[] = [];
    const say: RequestListener = (request, response) => {
      names.push('servername' in request.socket ? request.socket.servername : null);
      hello(request, response);
    };
    const server = await serve(say, PUBLIC, tls);
    const settings = { ...SETTINGS, allowHttp: false, ports: [server.port] };
    const resolve = resolverOf({ 'good.test': [[PUBLIC]], 'other.test': [[PUBLIC]] });
    const of = (host: string, ca?: string): Promise<string> =>
      read(`https://${host}:${server.port}/`, { settings, resolve, ...(ca === undefined ? {} : { ca }) });
    expect(await of('good.test', tls.cert)).toBe('{"hello":1}');
    expect(await of('GOOD.test.', tls.cert)).toBe('{"hello":1}');
    expect(await of('good.test')).toBe('unreachable');
    expect(await of('other.test', tls.cert)).toBe('unreachable');
    expect(await of(PUBLIC, tls.cert)).toBe('unreachable');
    expect(names).toEqual(['good.test', 'good.test']);
    await waitUntil('every connection is closed', () => server.open() === 0);
  });
});

describe('IPFS', () => {
  const withGateways = (...ports: number[]): { settings: SafeFetchSettings } => ({
    settings: { ...SETTINGS, ipfsGateways: ports.map((port) => `http://127.0.0.1:${port}/g/`) },
  });

  test('goes through the gateways in turn, which may be private because the operator named them', async () => {
    const first = await serve((_request, response) => response.writeHead(504).end());
    const second = await serve(hello);
    expect(await read(`ipfs://${CID}/a b.json`, withGateways(first.port, second.port))).toBe('{"hello":1}');
    expect(first.asked).toEqual([`/g/ipfs/${CID}/a%20b.json`]);
    expect(second.asked).toEqual([`/g/ipfs/${CID}/a%20b.json`]);
    expect(await read(`ipfs://${CID}`, withGateways(first.port))).toBe('refused');
    expect(await read(`ipfs://${CID}`, withGateways())).toBe('unreachable');
  });

  test('a gateway may redirect below itself; anywhere else its word is a stranger’s', async () => {
    let location = '';
    const inner = await serve(hello);
    const gateway = await serve((request, response) => {
      if (request.url?.endsWith('/')) hello(request, response);
      else response.writeHead(301, { location }).end();
    });
    const of = (to: string): Promise<string> => {
      location = to;
      return read(`ipfs://${CID}/dir`, withGateways(gateway.port));
    };
    expect(await of('dir/')).toBe('{"hello":1}');
    expect(await of('/api/v0/')).toBe('forbidden_address');
    expect(await of(`http://127.0.0.1:${inner.port}/g/ipfs/x/`)).toBe('forbidden_address');
    expect(inner.asked).toEqual([]);
  });
});
