import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { expectExactlyTheUnits } from '../../kit/metered-processes.ts';

test('SQLite: 1,000 metered calls at once in two processes on 100 units: exactly 100 are captured', {
  timeout: 60_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-metered-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  await expectExactlyTheUnits({ kind: 'sqlite', path: join(directory, 'control.db') });
});
