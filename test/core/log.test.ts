import { expect, test } from 'vitest';
import { createLog, readableLine } from '../../core/log.ts';

/** What a person at a terminal reads of the log. */

function linesOf(say: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  say(createLog('trace', 'test', { write: (line: string) => void lines.push(readableLine(line)) }));
  return lines;
}

test('a line has the time, the level, the message and the facts, and no facts of the process', () => {
  const [line] = linesOf((log) => log.info({ url: 'http://127.0.0.1:8402', rows: 3, of: ['a'] }, 'serving'));
  expect(line).toMatch(/^\d\d:\d\d:\d\d info {2}serving url=http:\/\/127\.0\.0\.1:8402 rows=3 of=\["a"\]\n$/);
});

test('an error is its message in one line, and a secret stays censored', () => {
  const [line = ''] = linesOf((log) =>
    log.error({ err: new Error('no answer'), headers: { authorization: 'Bearer x' } }, 'failed'),
  );
  expect(line).toMatch(/ error failed err=no answer headers=/);
  expect(line).not.toContain('Bearer');
  expect(line.trim().split('\n')).toHaveLength(1);
});
