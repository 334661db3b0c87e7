import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { createLog } from '../../core/log.ts';

/** A process that owns an engine, for a test that kills this one. Argument: data directory. Prints the engine's pid. */
const engine = await startEmbeddedEngine({
  dataDir: process.argv[2] ?? '',
  database: 'owned',
  maxMemoryMegabytes: 1024,
  log: createLog('silent', 'owner'),
});
process.stdout.write(`${engine.pid()}\n`);
