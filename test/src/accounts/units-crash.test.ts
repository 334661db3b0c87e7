import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lengthOf } from '../../kit/lengths.ts';
import { crashUnits } from '../../kit/units-crash.ts';

const KILLS = lengthOf('unitKills');
/** Each start of the child has a limit of its own; this is for all of them on a machine that is busy with other things. */
const TIMEOUT_MS = 600_000;

test('SQLite: no kill -9 loses a unit, makes one, or leaves half a change', {
  timeout: TIMEOUT_MS,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-crash-sqlite-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const tally = await crashUnits({
    store: { kind: 'sqlite', path: join(directory, 'control.db') },
    kills: KILLS,
    kill: async (child) => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      return { storeDied: false };
    },
  });
  expect(tally.holdsLost).toBe(0);
  expect(tally.answered).toBeGreaterThan(KILLS);
  expect(tally.swept).toBeGreaterThan(0);
  expect(tally.unansweredThere + tally.unansweredAbsent).toBeGreaterThan(0);
});
