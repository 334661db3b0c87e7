import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { expectChargedOnce } from '../../kit/charge-crash.ts';

test('SQLite: a call by use is charged once, at whatever moment its process is killed', {
  timeout: 120_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-charge-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  await expectChargedOnce({ kind: 'sqlite', path: join(directory, 'control.db') });
});
