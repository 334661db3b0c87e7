import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answer to a call. `text` is sent as it is, so that it can be anything but JSON. */
export interface ScriptedReply {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The server is gone as soon as this reply has left: later connections are refused. */
  readonly thenDie?: boolean;
}

/**
 * hang: never answers. reset: the connection breaks without a byte. cut: it breaks in the middle of the body that `text`
 * promises.
 */
export type ScriptedAct = ScriptedReply | 'hang' | 'reset' | { readonly cut: string };

export interface ScriptedCall {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/** Decides the answer to a call. `forward` asks the facilitator behind, when there is one. */
export type Script = (
  call: ScriptedCall,
  forward: () => Promise<ScriptedReply>,
) => ScriptedAct | Promise<ScriptedAct>;

/** A facilitator that does what a test tells it. Without a script it is the one behind, byte for byte. */
export interface ScriptedFacilitator {
  readonly url: string;
  /** Every call about a payment since the last `reset`, in order. */
  readonly calls: readonly ScriptedCall[];
  onVerify: Script;
  onSettle: Script;
  /** `GET /supported`, which services ask on their own account. */
  onSupported: Script;
  /** Forgets scripts and calls and listens again where it was. */
  reset(): Promise<void>;
  /** Connections break, new ones are refused. Twice is fine. */
  stop(): Promise<void>;
}

export function jsonReply(body: unknown, status = 200): ScriptedReply {
  return { status, text: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

const passOn: Script = (_call, forward) => forward();

export async function startScriptedFacilitator(behind?: string): Promise<ScriptedFacilitator> {
  const calls: ScriptedCall[] = [];
  let server: Server | undefined;
  let port = 0;

  const forwardTo = async ({ path, body }: ScriptedCall): Promise<ScriptedReply> => {
    if (behind === undefined) throw new Error('there is no facilitator behind this one');
    const headers = { 'content-type': 'application/json' };
    const sent = body === '' ? {} : { method: 'POST', headers, body };
    const response = await fetch(`${behind}${path}`, sent);
    return { status: response.status, text: await response.text(), headers };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
    const call = {
      path: request.url ?? '',
      body: Buffer.concat(chunks).toString('utf8'),
      headers: request.headers,
    };
    if (call.path !== '/supported') calls.push(call);
    perform(await scriptOf(call)(call, () => forwardTo(call)), response, () => void self.stop());
  };
  const scriptOf = ({ path }: ScriptedCall): Script => {
    if (path === '/supported') return self.onSupported;
    return path === '/verify' ? self.onVerify : self.onSettle;
  };
  const listen = async (): Promise<void> => {
    const started = createServer((request, response) => {
      serve(request, response).catch(() => response.destroy());
    });
    started.listen(port, '127.0.0.1');
    await once(started, 'listening');
    port = (started.address() as AddressInfo).port; // listening on TCP
    server = started;
  };
  const self: ScriptedFacilitator = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    calls,
    onVerify: passOn,
    onSettle: passOn,
    onSupported: passOn,
    async reset() {
      await self.stop();
      calls.length = 0;
      self.onVerify = passOn;
      self.onSettle = passOn;
      self.onSupported = passOn;
      await listen();
    },
    async stop() {
      const stopping = server;
      server = undefined;
      if (stopping === undefined) return;
      const closed = once(stopping, 'close');
      stopping.close();
      stopping.closeAllConnections();
      await closed;
    },
  };
  await listen();
  return self;
}

function perform(act: ScriptedAct, response: ServerResponse, die: () => void): void {
  if (act === 'hang') return;
  if (act === 'reset') {
    response.destroy();
    return;
  }
  if ('cut' in act) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': act.cut.length });
    response.write(act.cut.slice(0, Math.floor(act.cut.length / 2)), () => response.destroy());
    return;
  }
  if (act.thenDie === true) response.once('close', die);
  // No connection outlives its answer: a pooled one that `reset` ends would be a failure that no test asked for.
  response.writeHead(act.status, { ...act.headers, connection: 'close' }).end(act.text);
}
