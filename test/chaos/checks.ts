import { createReader } from '../../clickhouse/engine/http-engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import type { Log } from '../../core/log.ts';
import { waitWhileItProgresses } from '../../core/process/standstill.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { readCoverage } from '../../src/operations/index-state/rollups.ts';
import { areSameRows, caughtUp, expectSameRows, readServed } from '../kit/catch-up.ts';
import { readTotals } from '../kit/index-totals.ts';
import type { ExpectedRow } from '../kit/oracle/naive-reader.ts';
import { oracle } from '../kit/oracle/oracle.ts';
import { differencesOf } from '../kit/oracle/totals.ts';
import { readLedger, troubleOf } from '../kit/unit-books.ts';
import type { Account } from './callers.ts';
import type { Stage } from './stage.ts';

/** What must hold when all is quiet again. Each throws, or says in words, what does not. */

export interface TruthFound {
  readonly settlements: number;
  readonly closedSlices: number;
}

/** Every API serves what a naive reader finds on the chain, the tables hold nothing else, and the rollups add up to the rows. */
export async function checkRows(stage: Stage, log: Log): Promise<TruthFound> {
  const { world, members, engine } = stage;
  const urls = members.flatMap(({ url }) => (url === null ? [] : [url]));
  for (const url of urls) await caughtUp(world, url);
  const truth = await oracle.settlements.ofChain(world.chain.rpc, world.catalogue);
  for (const url of urls) await servesTruth(url, truth);
  const reader = createReader(engine.access, log);
  try {
    const live = await reader.rows({
      name: 'chaos-live-rows',
      sql: sql`SELECT count(), uniqExact(chain, block_number, log_index) FROM settlements FINAL WHERE del = 0`,
      maxSeconds: 30,
      maxRows: 1,
    });
    const [rows, keys] = (live.rows[0] ?? []).map(Number);
    if (rows !== truth.length || keys !== truth.length)
      throw new Error(`the table has ${rows} rows of ${keys} places, the chain ${truth.length} settlements`);
    const coverage = await readCoverage(reader);
    const wrong = differencesOf(await readTotals(reader, coverage), await oracle.totals.ofStoredRows(reader));
    if (wrong.length > 0) throw new Error(['the rollups differ from the rows', ...wrong].join('\n'));
    const closed = await reader.rows({
      name: 'chaos-closed-slices',
      sql: sql`SELECT count() FROM rollup_state FINAL`,
      maxSeconds: 30,
      maxRows: 1,
    });
    return { settlements: truth.length, closedSlices: Number(closed.rows[0]?.[0]) };
  } finally {
    await reader.close();
  }
}

async function servesTruth(url: string, truth: readonly ExpectedRow[]): Promise<void> {
  await waitWhileItProgresses('the served rows equal the rows of the chain', async () => {
    const served = await readServed(url);
    return { done: areSameRows(served, truth), at: `${served.length} of ${truth.length} rows` };
  }).catch(async (standstill: unknown) => {
    expectSameRows(await readServed(url), truth); // says which rows
    throw standstill;
  });
  await walletPagesAreTrue(url, truth);
}

const WALLETS_MAX = 4;

/** Wallet pages come from a table of their own. */
async function walletPagesAreTrue(url: string, truth: readonly ExpectedRow[]): Promise<void> {
  const wallets = [...new Set(truth.flatMap(({ payer, payee }) => [payer, payee]))].slice(0, WALLETS_MAX);
  for (const wallet of wallets) {
    const expected = truth
      .filter(({ payer, payee }) => payer === wallet || payee === wallet)
      .map(placeOf)
      .sort();
    const found = (await walkWallet(url, wallet)).map(placeOf).sort();
    if (found.join() !== expected.join())
      throw new Error(
        `${wallet} has ${expected.length} settlements on the chain and ${found.length} on its pages`,
      );
  }
}

interface Place {
  readonly tx_hash: string;
  readonly log_index: number;
}

const placeOf = ({ tx_hash, log_index }: Place): string => `${tx_hash}/${log_index}`;

async function walkWallet(url: string, wallet: string): Promise<Place[]> {
  const found: Place[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const cursor: string = before === '' ? '' : `&before=${encodeURIComponent(before)}`;
    const answer: Response = await fetch(`${url}/v0/entities/${wallet}/settlements?limit=100${cursor}`);
    if (!answer.ok) throw new Error(`status ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    const page = (await answer.json()) as { settlements: Place[]; next_before: string | null }; // our own API
    found.push(...page.settlements);
    before = page.next_before;
  }
  return found;
}

/** Every ledger adds up, and every caller was charged the amount that it knows. Returns the faults, in words. */
export async function checkAccounts(stage: Stage, accounts: readonly Account[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const account of accounts) {
    const trouble =
      account.kind === 'paid'
        ? await paymentTrouble(stage, account)
        : await ledgerTrouble(stage.store, account);
    if (trouble !== null) wrong.push(trouble);
  }
  return wrong;
}

async function ledgerTrouble(
  store: ControlStore,
  account: Exclude<Account, { kind: 'paid' }>,
): Promise<string | null> {
  const { organizationId } = account;
  const rows = await readLedger(store, organizationId);
  const trouble = troubleOf(rows, await store.units.balance(organizationId));
  if (trouble !== null) return `${organizationId}: ${trouble}`;
  const captured = rows.filter(({ kind }) => kind === 'capture').length;
  const [least, most] = chargesOf(account);
  if (captured >= least && captured <= most) return null;
  return `${organizationId} was charged ${captured} times for calls that cost ${least} to ${most} (${account.kind})`;
}

/** How often it may have been charged, at least and at most. */
function chargesOf(account: Exclude<Account, { kind: 'paid' }>): readonly [number, number] {
  if (account.kind === 'units') return [account.good, account.good + account.unknown];
  return account.charged === 'unknown' ? [0, 1] : [account.charged, account.charged];
}

const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

/** Who was served has paid once; no caller has paid twice. */
async function paymentTrouble(
  { world }: Stage,
  { payer, served }: Extract<Account, { kind: 'paid' }>,
): Promise<string | null> {
  const topics = [USED_TOPIC, `0x${payer.address.slice(2).padStart(64, '0')}`];
  const filter = { topics, fromBlock: '0x0', toBlock: 'latest' };
  const used = (await world.chain.rpc.call<unknown[]>('eth_getLogs', filter)).length;
  if (used === 1 || (used === 0 && !served)) return null;
  return `${payer.address} paid ${used} times and was ${served ? '' : 'not '}served`;
}
