import { DataType, load, open } from 'ffi-rs';
import { readBootstrap } from '../../src/bootstrap.ts';
import { parseBootstrap } from './host-bootstrap.ts';

/**
 * The engine's process. `libchdb.so` contains clickhouse-local; its C entry `chdb_query_cmdline` runs it on a thread of its
 * own, and the engine opens its real ClickHouse HTTP port (engine.md 0). `koffi` cannot make this call: it switches stacks
 * and the engine refuses.
 */

/** An unfiltered `KILL QUERY` ends the running keep-alive statement, and with the last one the listener (engine.md 5). */
const KEEP_ALIVE_STATEMENTS = 50;
/** One row a second for 31 years. */
const KEEP_ALIVE =
  'SELECT sleepEachRow(1) FROM numbers(1000000000) SETTINGS max_block_size = 1, max_threads = 1 FORMAT Null; ';

function end(): void {
  process.kill(process.pid, 'SIGKILL'); // acknowledged inserts survive it; the graceful way takes 6 s
}

async function main(): Promise<void> {
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  const { path, configFile, port, tcpPort, library } = await readBootstrap(parseBootstrap);
  const listen = `SYSTEM START LISTEN HTTP; ${tcpPort === null ? '' : 'SYSTEM START LISTEN TCP; '}`;
  const argv = [
    'clickhouse',
    '--config-file',
    configFile,
    '--path',
    path,
    '--listen_host',
    '127.0.0.1',
    '--http_port',
    String(port),
    ...(tcpPort === null ? [] : ['--tcp_port', String(tcpPort)]),
    '--query',
    `${listen}${KEEP_ALIVE.repeat(KEEP_ALIVE_STATEMENTS)}`,
    '--ignore-error',
  ];
  open({ library: 'chdb', path: library });
  await load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
    runInNewThread: true,
  });
  // Reached only when the engine could not start, which it has said on stderr by itself, or when its statements have ended.
  // Its result is not asked for an error: without one `chdb_result_error` answers null, reading that as text crashes this
  // thread, and the engine's own crash handler can then hang for ever, and not hear the end of stdin.
  end();
}

await main();
