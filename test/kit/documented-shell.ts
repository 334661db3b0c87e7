import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Runs the shell blocks of the documentation in a real shell whose only commands are those that a test carries out: `curl`, `npm` and
 * the like are functions that hand their arguments to the test and print what it answers. Quoting, comments, variables, `&&` and
 * `$(…)` are the shell's own; a command without a runner is one that is not found, and ends the block.
 */

export interface ShellCommand {
  readonly name: string;
  readonly args: readonly string[];
}

export interface ShellAnswer {
  readonly output: string;
  readonly code: number;
}

export type CarryOut = (command: ShellCommand) => Promise<ShellAnswer>;

export interface ShellRun {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Long enough for a first start of the program on a busy machine. */
const BLOCK_MAX_MS = 60_000;
const END_OF_ANSWER = 'end of this answer';

/** Of a block that runs in `sh -eu`: the functions, and the way they take to the test and back. */
function prelude(commands: readonly string[]): string {
  const functions = commands.map((name) => `${name}() { carry_out ${name} "$@"; }`);
  return `carry_out() {
  printf '%s\\0' "$#" "$@" >&3
  while IFS= read -r line <&4; do
    case "$line" in
      '${END_OF_ANSWER} '*) return "\${line#'${END_OF_ANSWER} '}" ;;
      *) printf '%s\\n' "$line" ;;
    esac
  done
  return 1
}
${functions.join('\n')}
`;
}

/** Runs a block with these variables set; `commands` are the names that `carryOut` knows. */
export async function runShell(
  code: string,
  options: {
    readonly commands: readonly string[];
    readonly carryOut: CarryOut;
    readonly variables: Readonly<Record<string, string>>;
  },
): Promise<ShellRun> {
  const script = `${prelude(options.commands)}${code}\n`;
  const child = spawn('/bin/sh', ['-eu', '-c', script], {
    // No command of the machine can be found, so none is run by mistake.
    env: { PATH: '/nowhere', ...options.variables },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    timeout: BLOCK_MAX_MS,
  });
  const ended = once(child, 'close');
  const [, , , asked, answers] = child.stdio as unknown as [null, Readable, Readable, Readable, Writable]; // as `stdio` says
  answers.on('error', () => undefined); // the shell may have ended
  const serving = serve(asked, answers, options.carryOut);
  const [output, errors] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
  ]);
  const [status] = (await ended) as [number | null];
  await serving;
  return { code: status ?? -1, output, errors };
}

async function serve(asked: Readable, answers: Writable, carryOut: CarryOut): Promise<void> {
  for await (const words of commandsOf(asked)) {
    const [name = '', ...args] = words;
    const { output, code } = await carryOut({ name, args });
    const lines = output === '' || output.endsWith('\n') ? output : `${output}\n`;
    answers.write(`${lines}${END_OF_ANSWER} ${code}\n`);
  }
}

/** A command is the number of its words and the words, each ended by a zero byte. */
async function* commandsOf(asked: Readable): AsyncGenerator<string[]> {
  let pending = '';
  for await (const chunk of asked.setEncoding('utf8')) {
    pending += chunk;
    for (;;) {
      const words = pending.split('\0');
      const count = Number(words[0]);
      // The text after the last zero byte is not a word yet.
      if (pending === '' || words.length < count + 2) break;
      yield words.slice(1, count + 1);
      pending = words.slice(count + 1).join('\0');
    }
  }
}
