import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, resolve } from 'node:path';

/**
 * Runs scripts of package.json side by side, as many as there are cores: `node scripts/run-together.mjs types lint`; with `--one-by-one`
 * one after the other. What each printed comes in one piece when it has ended. All of them run to their end, and when any failed this fails.
 */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const ONE_BY_ONE = '--one-by-one';
const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== ONE_BY_ONE);
const lanes = words.includes(ONE_BY_ONE) ? 1 : Math.max(2, availableParallelism());
const unknown = wanted.filter((name) => scripts[name] === undefined);
if (unknown.length > 0) throw new Error(`package.json has no script ${unknown.join(', ')}`);

const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter);
const MS_PER_SECOND = 1_000;

function run(name) {
  const began = performance.now();
  return new Promise((ended) => {
    const child = spawn(scripts[name], {
      shell: true,
      env: { ...process.env, PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => printed.push(bytes));
    child.once('error', (error) => printed.push(Buffer.from(`${error.message}\n`)));
    child.once('close', (code, signal) => {
      const outcome = code === 0 ? 'passed' : `FAILED (${signal ?? `code ${code}`})`;
      const seconds = ((performance.now() - began) / MS_PER_SECOND).toFixed(1);
      process.stdout.write(
        `\n> ${name}: ${scripts[name]}\n${Buffer.concat(printed)}${name} ${outcome} after ${seconds} s\n`,
      );
      ended({ name, isGood: code === 0 });
    });
  });
}

const queue = wanted.values();
const outcomes = [];
const lane = async () => {
  for (const name of queue) outcomes.push(await run(name));
};
await Promise.all(Array.from({ length: lanes }, lane));

const failed = outcomes.filter(({ isGood }) => !isGood).map(({ name }) => name);
if (failed.length > 0) {
  process.stderr.write(`\nfailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
