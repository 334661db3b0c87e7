import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createTranslator,
  type Translator,
  type TranslatorOptions,
} from '../../../sandbox/dialects/translator.ts';
import { testLog } from '../../kit/engine.ts';

/** No text can keep the thread for long, use its memory up, or end the suggestions of later texts. */

const POSTGRES = "SELECT payer::text FROM settlements WHERE block_time >= now() - interval '7 days'";
const OURS = 'SELECT toString(payer)\nFROM settlements\nWHERE block_time >= now() - INTERVAL 7 DAY';
/** Nested brackets, for which BigQuery's grammar needs exponential time. */
const BOMB = `SELECT ${'['.repeat(38)}1${']'.repeat(38)}`;
const START_MAX_MS = 60_000;

let translator: Translator | undefined;
function opened(over: Partial<TranslatorOptions> = {}): Translator {
  translator = createTranslator({ log: testLog, textMaxMs: 20_000, startMaxMs: START_MAX_MS, ...over });
  return translator;
}
afterEach(() => translator?.close());

describe('the thread', () => {
  test('answers with the text in the words of ClickHouse, or with null', async () => {
    const { translate } = bound(opened());
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ sql: OURS });
    expect(await translate('SELECT FROM WHERE', 'postgresql')).toEqual({ sql: null });
    expect(await translate('DROP TABLE settlements', 'mysql')).toEqual({ sql: null });
    expect(await translate('SELECT 1; SELECT 2', 'trino')).toEqual({ sql: null });
  });

  test('guesses the dialect of a text, the most probable first', async () => {
    const open = opened();
    const first = async (text: string) => {
      const guess = await open.likelyFirst(text);
      return 'failed' in guess ? guess : guess.dialects[0];
    };
    expect(await first(POSTGRES)).toBe('postgresql');
    expect(await first("SELECT/* */date_diff( -- '\n'day', a, b) FROM t")).toBe('trino');
    expect(await first('SELECT `a-b.c.d`.x FROM `a-b.c.d`')).toBe('bigquery');
    expect(await first('SELECT group_concat(a) FROM t WHERE b = "x" LIMIT 1, 2')).toBe('mysql');
    // More blanks and quotes than a pattern could go back over in the time.
    expect(await first(`SELECT ${'=  "x '.repeat(2_000)}${'/*'.repeat(2_000)}`)).toBeTypeOf('string');
  });

  test('is replaced when a text takes too long, and the next text is answered', async () => {
    const { translate } = bound(opened({ textMaxMs: 2_000 }));
    const startedMs = performance.now();
    const [bomb, next] = await Promise.all([translate(BOMB, 'bigquery'), translate(POSTGRES, 'postgresql')]);
    expect(bomb).toEqual({ failed: 'ended' });
    expect(next).toEqual({ sql: OURS });
    expect(performance.now() - startedMs).toBeLessThan(START_MAX_MS);
  });

  test('is replaced when it dies, and the next text is answered', async () => {
    let started = 0;
    const startThread = (): Worker => {
      started += 1;
      return new Worker(started === 1 ? DIES : ANSWERS, { eval: true });
    };
    const { translate } = bound(opened({ startThread }));
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ failed: 'ended' });
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ sql: 'SELECT 1' });
  });

  test('dies of its own memory limit, not of that of the process', async () => {
    let started = 0;
    const startThread = (): Worker => {
      started += 1;
      return started > 1
        ? new Worker(ANSWERS, { eval: true })
        : new Worker(EATS, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    };
    const { translate } = bound(opened({ startThread }));
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ failed: 'ended' });
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ sql: 'SELECT 1' });
  });

  test('that does not start leaves no text waiting', async () => {
    const startThread = (): Worker => new Worker('setInterval(() => undefined, 1000)', { eval: true });
    const { translate } = bound(opened({ startThread, startMaxMs: 200 }));
    expect(await translate(POSTGRES, 'postgresql')).toEqual({ failed: 'busy' });
  });

  test('lets a few texts wait, and turns the others away at once', async () => {
    const startThread = (): Worker => new Worker(HANGS, { eval: true });
    const { translate } = bound(opened({ startThread, textMaxMs: START_MAX_MS }));
    const asked = Array.from({ length: 20 }, () => translate(POSTGRES, 'postgresql'));
    const turnedAway = await Promise.race(asked);
    expect(turnedAway).toEqual({ failed: 'busy' });
    await translator?.close();
    const outcomes = await Promise.all(asked);
    expect(outcomes.every((outcome) => 'failed' in outcome)).toBe(true);
  });

  test.each([
    ['open brackets', `SELECT ${'('.repeat(25)}1`],
    ['brackets too deep', `SELECT ${'('.repeat(60)}1${')'.repeat(60)}`],
    ['a long text', `SELECT ${'1 + '.repeat(6_000)}1`],
  ])('reads no text with %s', async (_what, text) => {
    const { translate } = bound(opened());
    expect(await translate(text, 'postgresql')).toEqual({ sql: null });
  });
});

const READY = `const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ id: 'ready', sql: null });`;
const ANSWERS = `${READY} parentPort.on('message', ({ id }) => parentPort.postMessage({ id, sql: 'SELECT 1' }));`;
const DIES = `${READY} parentPort.on('message', () => process.exit(3));`;
const HANGS = `${READY} parentPort.on('message', () => undefined);`;
const EATS = `${READY} parentPort.on('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill({})); });`;

function bound(open: Translator): Pick<Translator, 'translate'> {
  return { translate: (text, dialect) => open.translate(text, dialect) };
}
