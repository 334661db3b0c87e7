import { existsSync } from 'node:fs';
import { createLog } from '../../core/log.ts';
import { superviseChild } from '../../core/process/supervise.ts';

/** A process that supervises the test child, for a test that kills this one. The argument is the child's report file. */
const reportFile = process.argv[2] ?? '';
await superviseChild({
  name: 'test-child',
  entry: new URL('./supervised-child.ts', import.meta.url),
  bootstrap: { reportFile, secret: '' },
  ready: () => Promise.resolve(existsSync(reportFile)),
  log: createLog('silent', 'owner'),
  stopSignal: 'SIGTERM',
});
