/** A JSON-RPC client as small as a chain kit needs: one URL, batches, errors that name the method. */

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Rpc {
  readonly url: string;
  /** Throws an Error naming the method when the node answers with an error. */
  call<Result = unknown>(method: string, ...params: readonly unknown[]): Promise<Result>;
  /** Many calls in few requests, answers in the order of the calls; throws when any of them failed. */
  batch<Result = unknown>(calls: readonly RpcCall[]): Promise<Result[]>;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Calls per request: keeps one body around 100 kB. */
const MAX_BATCH = 200;

export function createRpc(url: string): Rpc {
  const post = async (body: unknown): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const unwrap = (answer: Answer | undefined, method: string): unknown => {
    if (answer === undefined) throw new Error(`${method}: the node left it unanswered`);
    if (answer.error) throw new Error(`${method}: ${answer.error.message} (${answer.error.code})`);
    return answer.result;
  };
  return {
    url,
    async call<Result>(method: string, ...params: readonly unknown[]) {
      const answer = (await post({ jsonrpc: '2.0', id: 1, method, params })) as Answer; // JSON-RPC 2.0 envelope of our own node
      return unwrap(answer, method) as Result; // the caller names what the method answers
    },
    async batch<Result>(calls: readonly RpcCall[]) {
      const results: Result[] = [];
      for (let start = 0; start < calls.length; start += MAX_BATCH) {
        const part = calls.slice(start, start + MAX_BATCH);
        const body = part.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
        const answers = new Map(((await post(body)) as Answer[]).map((answer) => [answer.id, answer])); // as above
        for (const [id, { method }] of part.entries())
          results.push(unwrap(answers.get(id), method) as Result);
      }
      return results;
    },
  };
}
