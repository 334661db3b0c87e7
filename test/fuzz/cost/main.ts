import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { type Case, casesOf, describeGrowth, growthOf } from './growth.ts';
import { type Measured, startReaders, startService } from './measured.ts';

/** `npm run fuzz -- cost`: ends with 0 where no entry costs more per byte of a longer text, with 1 where one does. */

const CASES_DEFAULT = 3_000;

function whole(text: string): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < 1)
    throw new InvalidArgumentError('It must be a whole number from 1.');
  return value;
}

const command = new Command('npm run fuzz -- cost --')
  .description(
    'Sends texts of 1, 8 and 64 KiB to every entry that takes a text of a stranger, and measures the processor time of the thread that reads them. Finds entries where eight times the text takes more than twelve times as long.',
  )
  .option('--cases <number>', 'how many pairs of an entry and a text, drawn at random', whole, CASES_DEFAULT)
  .option('--entry <word>', 'only entries with this word in their names', '')
  .allowExcessArguments(false)
  .parse(process.argv);
const options = command.opts<{ readonly cases: number; readonly entry: string }>();

let found = 0;
for (const start of [startReaders, startService]) {
  const measured = await start();
  try {
    const unreached = await measured.unreached();
    found += unreached.length;
    process.stdout.write(unreached.map((one) => `not reached: ${one}\n`).join(''));
    for (const one of drawn(measured)) {
      const growth = await growthOf(one, measured);
      if (growth === null) continue;
      found += 1;
      process.stdout.write(`${describeGrowth(growth)}\n`);
      if (growth.ms.includes('stopped')) break;
    }
  } finally {
    await measured.close();
  }
}
process.stdout.write(`${found} found\n`);
process.exitCode = found === 0 ? 0 : 1;

function drawn(measured: Measured): Case[] {
  const rest = casesOf(measured).filter(({ entry }) => entry.includes(options.entry));
  const cases: Case[] = [];
  while (cases.length < options.cases && rest.length > 0)
    cases.push(...rest.splice(randomInt(rest.length), 1));
  return cases;
}
