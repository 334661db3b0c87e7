import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { startDemo } from './demo-process.ts';
import { ACTS, type Findings, type Visit } from './visitors.ts';
import { openWallet } from './wallet.ts';

/** `npm run test:nightly -- demo`: the demo for an hour with visitors in it. Every payment must settle, and the audit must find no lie. */

const MINUTES_DEFAULT = 60;
const MS_PER_MINUTE = 60_000;
/** Visitors leave this long before the demo ends, so that their payments are settled by then. */
const LEAVE_BEFORE_MS = 40_000;
const REPORT_EVERY_MS = 15_000;
const PAUSE_MS = 500;
const RECEIPT_TRIES_MAX = 60;

const program = new Command('npm run test:nightly -- demo')
  .description(
    'Starts the demo and visits it: pays, front-runs, cancels, pays twice with one signature, sends transactions, and asks the API, the directory and SQL. Ends with exit code 0 when every payment settled and the demo’s own audit found no lie.',
  )
  .option('--minutes <number>', 'how long', wholeNumber, MINUTES_DEFAULT)
  .option('--seed <number>', 'of the demo', wholeNumber, 1)
  .showHelpAfterError('(--help shows the options)')
  .parse();

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 99999.');
  return Number(text);
}

const began = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`[${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s] ${line}\n`);

async function main(minutes: number, seed: number): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-demo-hour-'));
  const findings: Findings = { done: {}, settled: new Set(), faults: [], slowestAnswerMs: 0 };
  say('starting the demo');
  const demo = await startDemo(directory, minutes, seed);
  try {
    const visit: Visit = { printed: demo.printed, wallet: openWallet(demo.printed), findings };
    const until = performance.now() + minutes * MS_PER_MINUTE - LEAVE_BEFORE_MS;
    const isOver = demo.ended.then(() => true);
    const reporting = setInterval(() => say(progressLine(findings, until)), REPORT_EVERY_MS);
    await Promise.race([visitUntil(visit, until), isOver]);
    clearInterval(reporting);
    await Promise.race([checkReceipts(visit), isOver]);
    say('the visitors have left; the demo ends and compares everything with the chain');
    const code = await demo.ended;
    process.stdout.write(`${demo.output().split('\n').slice(-30).join('\n')}\n`);
    for (const [what, times] of Object.entries(findings.done)) say(`${String(times).padStart(6)} × ${what}`);
    say(
      `${findings.settled.size} payments of visitors settled; slowest answer ${Math.round(findings.slowestAnswerMs)} ms`,
    );
    for (const fault of findings.faults) say(`FAULT ${fault}`);
    if (code !== 0) say(`the demo ended with code ${code}`);
    return code === 0 && findings.faults.length === 0 && findings.settled.size > 0;
  } finally {
    demo.stop();
    await demo.ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Every kind of visitor does its thing again and again, all of them at once. */
async function visitUntil(visit: Visit, until: number): Promise<void> {
  const { done, faults } = visit.findings;
  const acts = Object.entries(ACTS).map(async ([what, act]) => {
    done[what] = 0;
    while (performance.now() < until) {
      try {
        await act(visit);
        done[what] = (done[what] ?? 0) + 1;
      } catch (error) {
        faults.push(`${what}: ${error instanceof Error ? error.message.slice(0, 300) : 'unknown'}`);
      }
      await sleep(PAUSE_MS);
    }
  });
  await Promise.all(acts);
}

/** What was served must be on the chain, after every reorg. */
async function checkReceipts({ wallet, findings }: Visit): Promise<void> {
  for (const transaction of findings.settled) {
    let mined = await wallet.succeeded(transaction);
    for (let tries = 0; mined === null && tries < RECEIPT_TRIES_MAX; tries++) {
      await sleep(PAUSE_MS);
      mined = await wallet.succeeded(transaction);
    }
    if (mined !== true)
      findings.faults.push(
        `settlement ${transaction} is ${mined === null ? 'not on the chain' : 'reverted'}`,
      );
  }
}

function progressLine({ done, settled, faults }: Findings, until: number): string {
  const acts = Object.values(done).reduce((sum, times) => sum + times, 0);
  const left = Math.max(0, Math.ceil((until - performance.now()) / 1_000));
  return `${acts} visits, ${settled.size} payments settled, ${faults.length} faults; ${left} s left`;
}

const { minutes, seed } = program.opts<{ minutes: number; seed: number }>();
process.exitCode = (await main(minutes, seed)) ? 0 : 1;
