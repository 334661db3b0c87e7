import { expect, test, vi } from 'vitest';
import { type Actions, commandLine } from '../../../src/operate/command-line.ts';

class Exited extends Error {}

/** What a command line does: which action it takes, or what it says before it ends. */
async function outcomeOf(...words: string[]): Promise<string> {
  const taken: string[] = [];
  const action = (name: string) => () => Promise.resolve(void taken.push(name));
  const actions: Actions = {
    start: action('start'),
    migrate: action('migrate'),
    regrade: action('regrade'),
    importFiles: action('import'),
    backUp: action('backup'),
    restore: action('restore'),
    bundle: action('bundle'),
    verify: action('verify'),
    facilitators: (_options, order) => Promise.resolve(void taken.push(JSON.stringify(order))),
    loadConfig: () => {
      throw new Error('no command here asks for it');
    },
    exit: (code) => {
      throw new Exited(`exit ${code}`);
    },
  };
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  try {
    await commandLine(actions, '9.9.9').parseAsync(['node', 'settlement-index', ...words]);
    return taken.join();
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    return `${error.message}: ${said.split('\n')[0]}`;
  } finally {
    spy.mockRestore();
  }
}

test.each([
  [[], 'start'],
  [['start'], 'start'],
  [['--config', 'a.json', 'migrate'], 'migrate'],
  [['strat'], "exit 1: error: there is no command 'strat'; did you mean start?"],
  [['bakup', 'there'], "exit 1: error: there is no command 'bakup'; did you mean backup?"],
  [['bundle', '--chain', 'eip155:8453'], 'bundle'],
  [['verify', 'there', '--json'], 'verify'],
  [['verify'], "exit 1: error: missing required argument 'path'"],
  [['bundle', '--tabel', 'settlements'], "exit 1: error: unknown option '--tabel'"],
  [['facilitators', 'review'], '{"do":"review","isJson":false}'],
  [
    ['facilitators', 'accept', 'base', '0x1', 'own'],
    '{"do":"accept","chain":"base","address":"0x1","id":"own"}',
  ],
  [['facilitators', 'refuse', 'base', '0x1'], '{"do":"refuse","chain":"base","address":"0x1"}'],
  [['facilitators', 'accept', 'base', '0x1'], "exit 1: error: missing required argument 'id'"],
  [['something'], "exit 1: error: there is no command 'something'"],
  [['start', 'now'], "exit 1: error: start takes no argument, and got 'now'"],
  [['backup'], "exit 1: error: missing required argument 'directory'"],
])('%j is %s', async (words, outcome) => {
  expect(await outcomeOf(...words)).toBe(outcome);
});
