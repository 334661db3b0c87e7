import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';

/**
 * The engine's process, executed by the launcher (launcher.ts). `libchdb.so` contains clickhouse-local; its C entry point
 * `chdb_query_cmdline` runs it on a thread of its own, and the engine opens its real ClickHouse HTTP port. `koffi` cannot make this
 * call: it switches stacks, which the engine refuses.
 *
 * Plain JavaScript, the same file in the source tree and in `dist`: no loader is available inside the walls to compile it.
 */

/** An unfiltered `KILL QUERY` ends the running keep-alive statement, and with the last one the listener. */
const KEEP_ALIVE_STATEMENTS = 50;
/** One row a second for 31 years. */
const KEEP_ALIVE =
  'SELECT sleepEachRow(1) FROM numbers(1000000000) SETTINGS max_block_size = 1, max_threads = 1 FORMAT Null; ';
const STDERR = 2;
/** Every unconfined process can read it. */
const OUTSIDE = '/proc/self/environ';

function end() {
  process.kill(process.pid, 'SIGKILL'); // acknowledged inserts survive it; a graceful stop takes 6 s
}

function isConfined() {
  try {
    closeSync(openSync(OUTSIDE, 'r'));
    return false;
  } catch (error) {
    return error.code === 'EACCES';
  }
}

/** A port at which no program listens: the attempt is refused by the walls, or by the machine. */
const DISCARD_PORT = 9;

/** Whether no connection and no datagram leaves. */
async function isWithoutSockets() {
  const connection = connect({ host: '127.0.0.1', port: DISCARD_PORT });
  const [refused] = await Promise.race([once(connection, 'connect'), once(connection, 'error')]).catch(
    (error) => [error],
  );
  connection.destroy();
  const datagrams = createSocket('udp4');
  datagrams.bind(0, '127.0.0.1');
  const [closed] = await Promise.race([once(datagrams, 'listening'), once(datagrams, 'error')]).catch(
    (error) => [error],
  );
  datagrams.close();
  return refused?.code === 'EACCES' && closed?.code === 'EACCES';
}

/** The state of the walls, for the supervisor (walls.ts): measured from inside, not what the launcher intended. */
async function reportWalls({ reportMark, landlockAbi, landlockMissing, socketsMissing }) {
  const report = {
    landlockAbi: landlockAbi !== null && isConfined() ? landlockAbi : null,
    landlockMissing,
    socketsMissing: (await isWithoutSockets()) ? null : (socketsMissing ?? 'it can open connections'),
    userId: process.geteuid?.() ?? null,
    // biome-ignore lint/style/noProcessEnv: checks the names; reads no setting.
    environment: Object.keys(process.env),
  };
  writeSync(STDERR, `${reportMark}${JSON.stringify(report)}\n`);
}

async function main() {
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // The supervisor holds the other end of stdin: when it closes, the supervisor is gone.
  process.stdin.on('data', () => undefined);
  process.stdin.once('end', end);
  process.stdin.once('error', end);
  const start = JSON.parse(process.argv[2] ?? 'null'); // from our own launcher
  await reportWalls(start);
  const { path, configFile, port, tcpPort, library, ffi } = start;
  // As if from its own directory: Node 24 reads the package.json above the caller, and the walls hide the one above this file.
  const { DataType, load, open } = createRequire(ffi)(ffi);
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
  // Reached only when the engine could not start, which it reports on stderr itself, or when its statements have ended.
  // Do not ask its result for an error: without one `chdb_result_error` returns null, reading that as text crashes this
  // thread, and the engine's crash handler can then hang forever and miss the end of stdin.
  end();
}

await main();
