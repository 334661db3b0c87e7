import { setTimeout as sleep } from 'node:timers/promises';
import type { Printed } from './demo-process.ts';
import { type Signed, settledBy, type Wallet } from './wallet.ts';

/** What visitors do at the same time, each in turn with its kind: they pay, they get in the way, they ask. */

export interface Findings {
  /** How often each thing was done. */
  readonly done: Record<string, number>;
  /** Payments that were served, by the transaction that settled them. */
  readonly settled: Set<string>;
  /** What must not be. */
  readonly faults: string[];
  slowestAnswerMs: number;
}

export interface Visit {
  readonly printed: Printed;
  readonly wallet: Wallet;
  readonly findings: Findings;
}

const ANSWER_TIMEOUT_MS = 60_000;
/** As docs/payments.md says of an unknown outcome: the same payment, again. */
const RETRY_EVERY_MS = 3_000;
const RETRIES_MAX = 40;
const MINED_POLL_MS = 300;
const MINED_TRIES_MAX = 100;
const TRIES_PER_SENDING = 20;

let purchases = 0;

/** Whatever can be paid for, in turn; no two requests are the same. */
function nextUrl({ api, goods }: Printed): string {
  purchases += 1;
  const urls = [...goods, `${api}/v0/flows?limit=3`, `${api}/v0/graph?window=500&max_edges=5`];
  const url = urls[purchases % urls.length] ?? `${api}/v0/flows`;
  return url.includes('text=') ? `${url}%20${purchases}` : url;
}

export const ACTS: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  'paid and served': async (visit) => {
    await served(visit, await visit.wallet.sign(nextUrl(visit.printed)));
  },
  'paid twice with one signature': async (visit) => {
    const signed = await visit.wallet.sign(nextUrl(visit.printed));
    const answers = await Promise.all([ask(visit, signed), ask(visit, signed)]);
    const settlements = new Set(answers.filter(({ status }) => status === 200).map(settledBy));
    if (settlements.size > 1) visit.findings.faults.push('one signature was settled twice');
    if (settlements.size === 0) await served(visit, signed);
    for (const transaction of settlements) visit.findings.settled.add(transaction ?? '');
  },
  'front-run: a stranger settles first': async (visit) => {
    const { wallet, findings } = visit;
    const signed = await wallet.sign(nextUrl(visit.printed));
    const settle = () => wallet.toToken(signed.settlement);
    const [answer] = await Promise.all([ask(visit, signed), settle()]);
    // The money moved by another transaction: it is served, or refused for good; never left open.
    if (answer.status >= 500) await served(visit, signed);
    else if (answer.status === 200) findings.settled.add(settledBy(answer) ?? '');
    else if (answer.status !== 402) findings.faults.push(`front-run: ${answer.status}`);
    await untilUsed(visit, signed, settle);
  },
  'cancelled before it was paid': async (visit) => {
    const { wallet, findings } = visit;
    const signed = await wallet.sign(nextUrl(visit.printed));
    const data = await wallet.cancellation(signed);
    await wallet.toToken(data);
    await untilUsed(visit, signed, () => wallet.toToken(data));
    const answer = await ask(visit, signed);
    // A reorg may have taken the cancellation back: then the payment may settle, and has to be on the chain like every other.
    if (answer.status === 200) findings.settled.add(settledBy(answer) ?? '');
    else if (answer.status !== 402) findings.faults.push(`a cancelled payment was answered ${answer.status}`);
  },
  'cancelled while it was paid': async (visit) => {
    const { wallet, findings } = visit;
    const signed = await wallet.sign(nextUrl(visit.printed));
    const data = await wallet.cancellation(signed);
    const [answer] = await Promise.all([ask(visit, signed), wallet.toToken(data)]);
    if (answer.status === 200) findings.settled.add(settledBy(answer) ?? '');
    await untilUsed(visit, signed, () => wallet.toToken(data));
  },
  'sent transactions of their own': async ({ wallet }) => {
    await wallet.dust();
  },
  'asked the API, the directory and SQL': async ({ printed, findings }) => {
    const { api, apiKey } = printed;
    const headers = { 'X-API-Key': apiKey, 'content-type': 'application/json' };
    const sql = 'SELECT chain, count() AS n FROM settlements GROUP BY chain ORDER BY n DESC';
    const questions: readonly [string, RequestInit][] = [
      ['/v0/transactions?limit=20', { headers }],
      ['/v0/endpoints?q=conversion', {}],
      ['/v0/telemetry', {}],
      ['/v0/leaderboard?limit=3', { headers }],
      ['/v0/sql', { method: 'POST', headers, body: JSON.stringify({ sql }) }],
    ];
    for (const [path, init] of questions) {
      const began = performance.now();
      const answer = await fetch(`${api}${path}`, {
        ...init,
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const text = await answer.text();
      findings.slowestAnswerMs = Math.max(findings.slowestAnswerMs, performance.now() - began);
      const retryAfterSeconds = Number(answer.headers.get('retry-after'));
      // More queries a minute than the tier allows: the answer says when to come again.
      if (answer.status === 429 && retryAfterSeconds > 0) await sleep(retryAfterSeconds * 1_000);
      else if (!answer.ok)
        findings.faults.push(`${path} was answered ${answer.status} ${text.slice(0, 300)}`);
    }
  },
};

function ask({ findings }: Visit, { url, header }: Signed): Promise<Response> {
  return fetch(url, {
    headers: { 'PAYMENT-SIGNATURE': header },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.name : 'unknown';
    findings.faults.push(`${new URL(url).pathname} did not answer: ${reason}`);
    return new Response(null, { status: 599 });
  });
}

/** Sends the same payment until it is served; null, and a fault, when it never is. */
async function served(visit: Visit, signed: Signed): Promise<string | null> {
  let last = '';
  for (let tries = 0; tries < RETRIES_MAX; tries++) {
    const answer = await ask(visit, signed);
    const transaction = settledBy(answer);
    if (answer.status === 200 && transaction !== null) {
      visit.findings.settled.add(transaction);
      return transaction;
    }
    last = `${answer.status} ${await answer.text()}`;
    await sleep(RETRY_EVERY_MS);
  }
  visit.findings.faults.push(`${new URL(signed.url).pathname} was never served: ${last.slice(0, 400)}`);
  return null;
}

/** A transaction that a reorg dropped is sent again, as wallets do. */
async function untilUsed(
  { wallet, findings }: Visit,
  signed: Signed,
  again: () => Promise<unknown>,
): Promise<void> {
  for (let tries = 1; tries <= MINED_TRIES_MAX; tries++) {
    if (await wallet.isUsed(signed)) return;
    if (tries % TRIES_PER_SENDING === 0) await again();
    await sleep(MINED_POLL_MS);
  }
  findings.faults.push('an authorization was neither used nor cancelled');
}
