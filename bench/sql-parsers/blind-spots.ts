import { inspect } from '../../sandbox/judge/inspect.ts';
import { loadPolicy } from '../../sandbox/policy/policy.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { openEngineParser } from './engine-parser.ts';
import { DIALECTS, readWith } from './node-sql-parser.ts';

/**
 * Texts that read something which `tableList` does not name. A gate that compares the list with its public tables admits them
 * in every dialect that accepts them: grants then stop most of them, but not `file()`.
 */
const HIDING = [
  { hides: 'url', text: `SELECT * FROM url('http://127.0.0.1:1/', 'TSV', 'x String')` },
  { hides: 'file', text: `SELECT * FROM file('/etc/passwd', 'LineAsString')` },
  { hides: 'file', text: `SELECT file('/etc/passwd')` },
  { hides: 'remote', text: `SELECT * FROM remote('127.0.0.1:1', 'default.secrets')` },
  { hides: 'merge', text: `SELECT * FROM merge('default', '.*')` },
  { hides: 'loop', text: 'SELECT * FROM loop(secrets)' },
  { hides: 'dictionary', text: `SELECT * FROM dictionary('secrets')` },
  {
    hides: 'url',
    text: `SELECT payer FROM settlements WHERE payer IN (SELECT * FROM url('http://127.0.0.1:1/'))`,
  },
  { hides: 'secrets', text: 'SELECT payer IN secrets FROM settlements' },
  { hides: 'secrets', text: 'SELECT payer FROM settlements WHERE payer IN (secrets)' },
  { hides: 'secrets', text: 'SELECT in(payer, secrets) FROM settlements' },
  { hides: 'secrets', text: `SELECT joinGet('default.secrets', 'key', payer) FROM settlements` },
  { hides: 'secrets', text: `SELECT dictGet('default.secrets', 'key', payer) FROM settlements` },
] as const;

/** ClickHouse words that are read as the name of something. */
const TAKEN_FOR_ALIAS = [
  'SELECT payer FROM settlements FINAL',
  'SELECT payer FROM settlements ASOF JOIN agents ON payee = wallet',
] as const;

export async function showBlindSpots({ workspace, say }: BenchContext): Promise<Figure[]> {
  const parser = await openEngineParser(workspace, 'blind-spots');
  const policy = loadPolicy();
  let hidden = 0;
  let letIn = 0;
  for (const { hides, text } of HIDING) {
    const blind = DIALECTS.filter((dialect) => lacks(dialect, text, hides));
    const verdict = await inspect(text, {}, { parser, policy });
    if (blind.length > 0) hidden += 1;
    if ('accepted' in verdict) letIn += 1;
    say(`${blind.length} of ${DIALECTS.length} dialects accept and do not list ${hides}: ${text}`);
  }
  return [
    countOf('blind-spots-of-tablelist', hidden, `=${HIDING.length}`, hidden === HIDING.length),
    countOf('blind-spots-let-in-by-engine-parser', letIn, '=0', letIn === 0),
    aliasFigure(say),
  ];
}

function lacks(dialect: string, text: string, name: string): boolean {
  const reading = readWith(dialect, text);
  return reading !== null && !reading.tables.some((table) => table.split('::').at(-1) === name);
}

/** The word survives only with AS before it: the query that would run has lost it. */
function aliasFigure(say: BenchContext['say']): Figure {
  const losing = TAKEN_FOR_ALIAS.filter((text) => {
    const lost = DIALECTS.map((dialect) => readWith(dialect, text)?.regenerated ?? '').filter((regenerated) =>
      /AS\W+(FINAL|ASOF)/.test(regenerated),
    );
    say(`${lost.length} of ${DIALECTS.length} dialects lose a word: ${text} becomes ${lost[0] ?? 'nothing'}`);
    return lost.length > 0;
  });
  return countOf(
    'words-taken-for-an-alias',
    losing.length,
    `=${TAKEN_FOR_ALIAS.length}`,
    losing.length === TAKEN_FOR_ALIAS.length,
  );
}

function countOf(name: string, value: number, goal: string, ok: boolean): Figure {
  return { name, value, unit: 'queries', goal, ok };
}
