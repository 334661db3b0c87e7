import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { parse } from 'yaml';
import { parseOptions } from '../../demo/options.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { RunAdmin } from '../../src/operate/admin/command-output.ts';
import { addKeyCommands } from '../../src/operate/admin/key.ts';
import { addOrganizationCommands } from '../../src/operate/admin/organization.ts';
import { addReconcileCommand } from '../../src/operate/admin/reconcile.ts';
import { addRotateCommands } from '../../src/operate/admin/secrets.ts';
import { addUnitCommands } from '../../src/operate/admin/units.ts';
import { commandLine } from '../../src/operate/command-line.ts';
import type { ShellAnswer, ShellCommand } from './documented-shell.ts';
import { watchSecret } from './secrets-watch.ts';

/** Carries out the commands of the documentation: requests go to a running application, accounts are made in its store. */

export interface CommandWorld {
  /** Where the application listens, without a slash at its end. */
  readonly url: string;
  readonly store: ControlStore;
  readonly nowMs: () => number;
  /** A directory with `data/` in it, as a service has it. */
  readonly directory: string;
}

export interface SentRequest {
  readonly target: string;
  readonly status: number;
  readonly body: string;
}

/** Addresses that the documents write for the reader's own service. */
const OWN_ORIGINS = /^(?:http:\/\/127\.0\.0\.1:8402|https:\/\/index\.example)(?=\/|$)/;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const DONE: ShellAnswer = { output: '', code: 0 };

export interface Commands {
  readonly names: readonly string[];
  readonly sent: readonly SentRequest[];
  carryOut(command: ShellCommand): Promise<ShellAnswer>;
}

export function documentedCommands(world: CommandWorld): Commands {
  const sent: SentRequest[] = [];
  const known: Readonly<Record<string, (args: readonly string[]) => Promise<ShellAnswer>>> = {
    curl: async (args) => {
      const request = await send(world.url, args);
      sent.push(request);
      return { output: request.body, code: 0 };
    },
    npm: (args) => npm(world, args),
    npx: ([program, ...args]) => ownProgram(program, args),
    docker: async (args) => {
      const words = composeCommand(args);
      if (words === null) return DONE;
      const [verb = '', ...rest] = words;
      return verb === 'admin' ? admin(world, rest) : commandLineOf(verb, rest);
    },
    // A script of ours: read, not run, because it writes next to itself.
    sh: ([script = '']) => inDirectory('sh', ['-n', join(ROOT, script)], world.directory),
    tar: (args) => inDirectory('tar', args, world.directory),
    sqlite3: ([file = '', statement = '']) =>
      inDirectory(process.execPath, ['-e', SQLITE, file, statement], world.directory, {
        NODE_PATH: join(ROOT, 'node_modules'),
      }),
  };
  return {
    names: Object.keys(known),
    sent,
    carryOut: async ({ name, args }) => {
      const command = known[name];
      if (command === undefined) throw new Error(`no runner carries out ${name}`);
      try {
        return await command(args);
      } catch (error) {
        return {
          output: `${name} ${args.join(' ')}: ${error instanceof Error ? error.message : error}`,
          code: 1,
        };
      }
    },
  };
}

/** The statement of a `sqlite3` line, by the library that is there anyway. */
const SQLITE = `const Database = require('libsql'); new Database(process.argv[1], { fileMustExist: true }).exec(process.argv[2]);`;

async function inDirectory(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ShellAnswer> {
  const { stdout } = await run(command, [...args], { cwd, env: { PATH: process.env['PATH'], ...env } });
  return { output: stdout, code: 0 };
}

interface Request {
  url: string;
  method: string | undefined;
  body: string | undefined;
  readonly headers: Headers;
}

/** Options of curl that take a value, each with what it does to a request. */
const CURL_OPTIONS: Readonly<Record<string, (request: Request, value: string) => void>> = {
  '-H': ({ headers }, value) => {
    const [, name = '', content = ''] = /^([^:]+):\s*(.*)$/.exec(value) ?? [];
    headers.set(name, content);
  },
  '-d': (request, value) => {
    request.body = value;
  },
  '--data-binary': (request, value) => {
    request.body = value;
  },
  '-X': (request, value) => {
    request.method = value;
  },
  '-o': () => undefined,
};
const CURL_FLAGS: ReadonlySet<string> = new Set(['-s', '-i', '-si', '-sS', '-sSf', '-f']);

async function send(url: string, args: readonly string[]): Promise<SentRequest> {
  const request: Request = { url: '', method: undefined, body: undefined, headers: new Headers() };
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const option = CURL_OPTIONS[word];
    if (option !== undefined) option(request, words.shift() ?? '');
    else if (!word.startsWith('-') && request.url === '') request.url = word;
    else if (!CURL_FLAGS.has(word)) throw new Error(`no test knows what curl does with ${word}`);
  }
  const target = request.url.replace(OWN_ORIGINS, url);
  if (!target.startsWith(`${url}/`)) throw new Error(`${request.url} is not the reader’s own service`);
  const { headers, body } = request;
  if (body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded');
  const method = request.method ?? (body === undefined ? 'GET' : 'POST');
  const answer = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) });
  return { target: target.slice(url.length), status: answer.status, body: await answer.text() };
}

/** Scripts that are not run here, each with the arguments that it may have. */
const TAKES: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  'demo:pay': (args) => args.length === 1 && URL.canParse(args[0] ?? ''),
  'test:nightly': (args) => /^(demo --minutes \d+)?$/.test(args.join(' ')),
  bench: ([part = '', ...more]) =>
    /^(--rows \d+M)?$/.test(more.join(' ')) && existsSync(join(ROOT, 'bench', part, 'main.ts')),
  gen: (args) => /^(functions)?$/.test(args.join(' ')),
};

async function npm(world: CommandWorld, given: readonly string[]): Promise<ShellAnswer> {
  const words = given.filter((word) => word !== '--silent');
  const [verb = '', ...rest] = words[0] === 'run' ? words.slice(1) : words;
  if (words[0] === 'ci') return DONE;
  if (!(verb in scriptsOfPackage())) throw new Error(`package.json has no script ${verb}`);
  if (rest.length > 0 && rest[0] !== '--') throw new Error('options of a script stand behind --');
  const args = rest.slice(1);
  switch (verb) {
    case 'admin':
      return admin(world, args);
    case 'demo':
      parseOptions(['node', 'demo', ...args]);
      return DONE;
    case 'start':
    case 'bundle':
    case 'verify':
    case 'import':
    case 'facilitators':
    case 'doctor':
      return commandLineOf(verb, args);
    default:
      if (!(TAKES[verb]?.(args) ?? args.length === 0))
        throw new Error(`no test knows what ${verb} does with ${args.join(' ')}`);
      return DONE;
  }
}

function scriptsOfPackage(): Readonly<Record<string, string>> {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  }; // our own file
  return scripts;
}

/** `npx settlement-index …`: the program by the name that package.json gives it; or mcp-remote, of the version that a test drives. */
function ownProgram(program: string | undefined, args: readonly string[]): Promise<ShellAnswer> {
  if (program === `mcp-remote@${versionOf('mcp-remote')}`) return mcpRemote(args);
  if (program !== 'settlement-index') throw new Error(`no test knows ${program}`);
  const [name = 'start', ...rest] = args;
  return commandLineOf(name, rest);
}

/** What test/src/mcp/mcp-remote.engine.test.ts starts it with. */
function mcpRemote([url = '', ...options]: readonly string[]): Promise<ShellAnswer> {
  const expected = ['--transport', 'http-only', '--header', 'X-API-Key:$' + '{SETTLEMENT_INDEX_KEY}'];
  if (!URL.canParse(url) || !url.endsWith('/mcp')) throw new Error(`${url} is no address of /mcp`);
  if (options.join(' ') !== expected.join(' ')) throw new Error(`no test starts mcp-remote with ${options}`);
  return Promise.resolve(DONE);
}

function versionOf(name: string): string | undefined {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'test/peers/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  }; // our own file
  return dependencies[name];
}

/** The program's own reading of the line. The command itself is not carried out: it would read a chain. */
async function commandLineOf(name: string, args: readonly string[]): Promise<ShellAnswer> {
  let output = '';
  const nothing = (): Promise<void> => Promise.resolve();
  const program = commandLine(
    {
      start: nothing,
      migrate: nothing,
      regrade: nothing,
      importFiles: nothing,
      backUp: nothing,
      restore: nothing,
      bundle: nothing,
      verify: nothing,
      facilitators: nothing,
      loadConfig: () => {
        throw new Error('admin is carried out, not read');
      },
      exit: (exitCode) => {
        throw new HelpShown(exitCode);
      },
    },
    '9.9.9',
  );
  const write = (text: string): void => {
    output += text;
  };
  for (const command of [program, ...program.commands])
    command.configureOutput({ writeOut: write, writeErr: write });
  // The work of these is tested where they are: here the line is read.
  for (const command of program.commands.filter((one) => one.name() === 'doctor')) command.action(nothing);
  const words = name === 'start' ? args : [name, ...args];
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof HelpShown)) throw error;
    return { output, code: error.exitCode };
  }
  return { output, code: 0 };
}

class HelpShown extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('help was shown, or the line is wrong');
    this.exitCode = exitCode;
  }
}

/** The real commands over the store of the running application. */
async function admin(
  { store, nowMs, directory }: CommandWorld,
  args: readonly string[],
): Promise<ShellAnswer> {
  let answer: ShellAnswer | undefined;
  const program = new Command('admin')
    .option('--json')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const runAdmin: RunAdmin = async (work) => {
    const {
      lines,
      json,
      failed = false,
    } = await work({
      store,
      nowMs: nowMs(),
      config: {
        bundles: { dir: join(directory, 'bundles'), signingSecrets: [] },
        cursorSecrets: [],
        dataDir: join(directory, 'data'),
      },
    });
    const isJson = program.opts<{ json?: boolean }>().json === true;
    answer = { output: isJson ? JSON.stringify(json) : lines.join('\n'), code: failed ? 1 : 0 };
  };
  for (const add of [
    addOrganizationCommands,
    addKeyCommands,
    addUnitCommands,
    addReconcileCommand,
    addRotateCommands,
  ])
    add(program, runAdmin);
  await program.parseAsync([...args], { from: 'user' });
  if (answer === undefined) throw new Error('the command did nothing');
  for (const [key] of answer.output.matchAll(/six_live_\w+/g)) watchSecret(key);
  return answer;
}

/** What `docker compose …` of the documentation asks for, as far as it can be carried out without Docker. */

const FLAGS_OF_UP: ReadonlySet<string> = new Set(['--build', '--detach', '--wait']);
const PROGRAM = ['node', 'dist/src/main.js'];

/** The words for our program that a container is to run; null where Docker alone is asked. Throws for what no file or service allows. */
function composeCommand(given: readonly string[]): readonly string[] | null {
  const words = [...given];
  if (words.shift() !== 'compose') throw new Error('no test knows this command of docker');
  const files: string[] = [];
  while (words[0] === '-f') files.push(...words.splice(0, 2).slice(1));
  const services = (files.length === 0 ? ['docker-compose.yml'] : files).flatMap(servicesOf);
  const verb = words.shift();
  switch (verb) {
    case 'up': {
      const unknown = words.filter((word) => !FLAGS_OF_UP.has(word));
      if (unknown.length > 0) throw new Error(`no test knows ${unknown.join(' ')}`);
      return null;
    }
    case 'exec': {
      const [service = '', ...rest] = words;
      if (!services.includes(service)) throw new Error(`there is no service ${service}`);
      if (rest.slice(0, PROGRAM.length).join() !== PROGRAM.join()) throw new Error('not our program');
      return rest.slice(PROGRAM.length);
    }
    default:
      throw new Error(`no test knows docker compose ${verb}`);
  }
}

function servicesOf(file: string): string[] {
  const { services } = parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true }) as {
    services: Record<string, unknown>;
  }; // our own file
  return Object.keys(services);
}
