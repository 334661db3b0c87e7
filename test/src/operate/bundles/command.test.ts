import { expect, test } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { BUNDLE_TABLE_NAMES } from '../../../../src/bundles/tables.ts';
import { tellSteps } from '../../../../src/operate/backup/progress.ts';
import { readVerifyOrder, readWanted } from '../../../../src/operate/bundles/command.ts';

const config = loadConfig({ env: { CHAINS: 'base,polygon' } });

test('without options every configured chain and every table is made', () => {
  expect(readWanted({}, config)).toEqual({
    chains: ['eip155:8453', 'eip155:137'],
    tables: BUNDLE_TABLE_NAMES,
  });
  expect(readWanted({ chain: ['eip155:137'], table: ['pair_days', 'pair_days'] }, config)).toEqual({
    chains: ['eip155:137'],
    tables: ['pair_days'],
  });
});

test('a wrong chain or table is refused with those that are right', () => {
  expect(() => readWanted({ chain: ['base'] }, config)).toThrow(
    '--chain takes a chain of the configuration (eip155:8453, eip155:137), not "base"',
  );
  expect(() => readWanted({ table: ['setlements'] }, config)).toThrow('did you mean settlements?');
  expect(() => readWanted({ table: ['agents'] }, config)).toThrow(
    `--table takes ${BUNDLE_TABLE_NAMES.join(', ')}`,
  );
});

test('days and URL of a check are read before anything is opened', () => {
  expect(readVerifyOrder('here', { since: '2026-11-01', key: 'k' })).toEqual({
    path: 'here',
    url: null,
    key: 'k',
    keysFile: null,
    since: '2026-11-01',
    until: null,
  });
  for (const [given, said] of [
    [{ url: 'ftp://x' }, '--url takes an http or https URL'],
    [{ since: '2026-02-30' }, '--since takes a UTC day'],
    [{ since: '2026-11-02', until: '2026-11-01' }, '--since is after --until'],
  ] as const)
    expect(() => readVerifyOrder('here', given)).toThrow(said);
});

test('progress says how many days are done and how long the rest will take', () => {
  let now = 0;
  const said: string[] = [];
  const steps = tellSteps(
    'bundle',
    'days',
    40,
    { say: (line) => said.push(line), isTerminal: true },
    () => now,
  );
  now = 5_000;
  steps.add(10);
  now = 5_100;
  steps.add(1);
  expect(said).toEqual(['bundle: 10 of 40 days, 25 %, about 15 s left']);
});
