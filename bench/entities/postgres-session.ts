import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Workspace } from '../support/workspace.ts';
import type { PostgresCluster } from './postgres-cluster.ts';

export interface PostgresAnswer {
  /** Texts, as psql prints them; '' for null. */
  readonly rows: readonly (readonly string[])[];
  /** As psql's \timing measures it: from sending the statement until its last row has arrived. */
  readonly ms: number;
}

/** A statement without its semicolon, with $1, $2, … and their literals, quoted as SQL wants them. */
export interface PostgresStatement {
  readonly text: string;
  readonly literals: readonly string[];
}

/** One connection, held by one psql for the whole bench, so that neither start-up nor connecting is ever measured. */
export interface PostgresSession {
  /** The literals stand in the text: planned for exactly these values each time. */
  ask(statement: string | PostgresStatement): Promise<PostgresAnswer>;
  /** Prepared on first use, which is not measured: what a driver does for short statements. */
  askPrepared(statement: PostgresStatement): Promise<PostgresAnswer>;
}

const END_OF_ANSWER = 'bench-end-of-answer';
const TIME = /^Time: ([0-9.]+) ms/;
const SEPARATOR = '\u001f';

export function openSession(workspace: Workspace, cluster: PostgresCluster): PostgresSession {
  const psql = spawn(
    join(cluster.bin, 'psql'),
    ['-X', '-q', '-A', '-t', '-F', SEPARATOR, '-v', 'ON_ERROR_STOP=1'],
    {
      env: { ...process.env, ...cluster.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  workspace.defer(() => psql.stdin.end());
  let said = '';
  psql.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  psql.stdin.on('error', () => undefined); // EPIPE when psql ended; `close` below tells
  let waiting: { resolve(answer: PostgresAnswer): void; reject(error: Error): void } | undefined;
  let rows: string[][] = [];
  let ms = Number.NaN;
  createInterface({ input: psql.stdout }).on('line', (line) => {
    const time = TIME.exec(line);
    if (line === END_OF_ANSWER) {
      waiting?.resolve({ rows, ms });
      waiting = undefined;
    } else if (time !== null) ms = Number(time[1]);
    else rows.push(line.split(SEPARATOR));
  });
  psql.once('close', () => waiting?.reject(new Error(`psql ended: ${said.trim()}`)));
  const ask = (statement: string): Promise<PostgresAnswer> => {
    if (waiting !== undefined) throw new Error('psql is asked one thing after the other');
    if (psql.exitCode !== null) throw new Error(`psql has ended: ${said.trim()}`);
    rows = [];
    ms = Number.NaN;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      psql.stdin.write(`\\timing on\n${statement};\n\\timing off\n\\echo ${END_OF_ANSWER}\n`);
    });
  };
  const prepared = new Map<string, string>();
  return {
    ask: (statement) => ask(typeof statement === 'string' ? statement : bind(statement)),
    async askPrepared({ text, literals }) {
      const name = prepared.get(text) ?? `bench_${prepared.size}`;
      if (!prepared.has(text)) await ask(`PREPARE ${name} AS ${text}`);
      prepared.set(text, name);
      return ask(`EXECUTE ${name}${literals.length === 0 ? '' : `(${literals.join(', ')})`}`);
    },
  };
}

function bind({ text, literals }: PostgresStatement): string {
  return text.replace(/\$(\d+)/g, (_whole, index: string) => literals[Number(index) - 1] ?? '');
}

/** Runs a script whose COPY … FROM STDIN reads `body`. */
export async function copyInto(
  cluster: PostgresCluster,
  script: readonly string[],
  body: Readable,
): Promise<void> {
  const commands = script.flatMap((command) => ['-c', command]);
  const psql = spawn(join(cluster.bin, 'psql'), ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', ...commands], {
    env: { ...process.env, ...cluster.environment },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  psql.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve) => psql.once('close', resolve));
  const sent = pipeline(body, psql.stdin).then(
    () => undefined,
    (error: unknown) => error,
  );
  const code = await ended;
  const broken = await sent;
  if (code !== 0) throw new Error(`psql ended with ${code}: ${said.trim()}`);
  if (broken !== undefined) throw new Error('the rows did not all arrive', { cause: broken });
}
