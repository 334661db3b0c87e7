import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { loadConfig } from '../../core/config/load.ts';
import { startService } from '../../src/service.ts';
import { benchLog } from '../support/bench-engine.ts';
import { watchEventLoop } from '../support/event-loop.ts';

/**
 * The service as `npm start` builds it, in a fresh process, because a bench's garbage would be collected on its event loop. Argument:
 * a configuration file. Prints `{ url }`; at the next line, or the end, of its input it prints the delays of its event loop, stops
 * the service and ends.
 */
const [file = ''] = process.argv.slice(2);
const service = await startService({
  config: loadConfig({ file, env: {} }),
  log: benchLog(),
  version: 'bench',
});
await service.prepared;
const loop = watchEventLoop();
console.log(JSON.stringify({ url: service.url }));
const input = createInterface({ input: process.stdin });
await Promise.race([once(input, 'line'), once(input, 'close')]);
console.log(JSON.stringify(loop.stop()));
await service.stop();
process.exit(0);
