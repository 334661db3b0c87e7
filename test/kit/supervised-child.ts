import { renameSync, writeFileSync } from 'node:fs';
import { readBootstrap } from '../../core/process/child-process.ts';

/** The orders of the supervised child of the tests. */
export interface ChildOrders {
  /** Written once the bootstrap has arrived: what this process got. */
  readonly reportFile: string;
  readonly secret: string;
  /** Ends at once with this code. */
  readonly exitCode?: number;
  readonly ignoreSigterm?: boolean;
  /** Each later line is appended to it. */
  readonly linesFile?: string;
}

const heard: string[] = [];
const orders = await readBootstrap((json) => json as ChildOrders, {
  onLine(line) {
    heard.push(line);
    if (orders.linesFile !== undefined) writeFileSync(orders.linesFile, heard.join('\n'));
  },
}); // written by the test
if (orders.ignoreSigterm === true) process.on('SIGTERM', () => undefined);
const report = { pid: process.pid, argv: process.argv, env: process.env, secret: orders.secret };
writeFileSync(`${orders.reportFile}.part`, JSON.stringify(report));
renameSync(`${orders.reportFile}.part`, orders.reportFile);
if (orders.exitCode !== undefined) {
  process.stderr.write('the child says why\n', () => process.exit(orders.exitCode));
}
setInterval(() => undefined, 60_000);
