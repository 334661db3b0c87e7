import { expect, test } from 'vitest';
import { createLog } from '../../../core/log.ts';
import { reportBacklog } from '../../../ingest/agents/queue.ts';

function watched(): {
  lines: Record<string, unknown>[];
  tell: (due: number, done: number, atSeconds: number) => void;
} {
  const lines: Record<string, unknown>[] = [];
  let seconds = 0;
  const log = createLog('info', 'test', { write: (line) => void lines.push(JSON.parse(line)) });
  const backlog = reportBacklog('cards', log, () => seconds * 1_000);
  return {
    lines,
    tell(due, done, atSeconds) {
      seconds = atSeconds;
      backlog.report(due, done);
    },
  };
}

test('a long queue says how far it is and when it will be done, twice a minute, and that it is done', () => {
  const { lines, tell } = watched();
  tell(10_000, 200, 0);
  tell(9_800, 200, 10);
  tell(9_600, 200, 31);
  tell(9_400, 200, 40);
  tell(200, 200, 62);
  expect(lines).toMatchObject([
    { queue: 'cards', due: 10_000, msg: 'files are being fetched' },
    { queue: 'cards', due: 9_400, done: 400, perSecond: 12.9, etaSeconds: 729 },
    { queue: 'cards', done: 800, msg: 'files are fetched' },
  ]);
});

test('a short queue is no news', () => {
  const { lines, tell } = watched();
  for (let at = 0; at < 1_000; at += 10) tell(at % 3 === 0 ? 0 : 999, 200, at);
  expect(lines).toEqual([]);
});
