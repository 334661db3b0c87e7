import { mkdirSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../../../core/config/config.ts';
import { createLog } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';
import { CHECKS, type CheckId, type CheckOutcome, type Finding, failure } from './finding.ts';

const EXIT_FAILED = 1;

const HELP = `
Looks at Node, the configuration, disks, the engine (answers, version, what its guest is refused), clocks, every RPC URL, how far the
index is, the control store and the ledger of units. Works with or without a running service. Changes nothing; without one an empty data directory is made.
Exit codes: 0 nothing failed (there may be warnings), 1 something failed, 2 the command must be corrected.`;

const MARKS: Readonly<Record<CheckOutcome, string>> = {
  ok: 'ok      ',
  warning: 'warning ',
  failure: 'FAILURE ',
  skipped: 'skipped ',
};

/** `doctor`: is this deployment in order? `load` reads the configuration that the command line names. */
export function addDoctorCommand(program: Command, load: () => Config): void {
  const doctor = program
    .command('doctor')
    .description('look at everything a deployment needs, and say what to do')
    .option('--json', 'print one JSON object instead of lines')
    .addHelpText('after', HELP)
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const findings = await examine(load);
      const failed = findings.some(({ verdict }) => verdict === 'failure');
      process.stdout.write(
        `${json ? JSON.stringify(answerOf(findings, failed)) : linesOf(findings).join('\n')}\n`,
      );
      if (failed) process.exitCode = EXIT_FAILED;
    });
  doctor
    .command('engine')
    .description(
      'watch the running service for some seconds: which statements it sends to the engine, and what they take',
    )
    .addOption(
      new Option('--seconds <seconds>', 'how long to watch').argParser(readSeconds).default(WATCH_SECONDS),
    )
    .action(async ({ seconds }: { readonly seconds: number }) => {
      const { tableOf, watchStatements } = await import('./statements.ts');
      const uses = await watchStatements(load().metrics, seconds);
      process.stdout.write(`${tableOf(uses, seconds).join('\n')}\n`);
    });
}

const WATCH_SECONDS = 20;
const WATCH_SECONDS_MAX = 3_600;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= WATCH_SECONDS_MAX) return seconds;
  throw new InvalidArgumentError(`Give a whole number of seconds from 1 to ${WATCH_SECONDS_MAX}.`);
}

/** A configuration that cannot be read is a finding like any other. */
async function examine(load: () => Config): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = load();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [failure('configuration', error.message, 'Correct it: docs/reference/configuration.md.')];
  }
  mkdirSync(config.dataDir, { recursive: true });
  // Silent: the log lines of the parts would only repeat the findings.
  const { runDoctor } = await import('./run.ts');
  return runDoctor({ config, log: createLog('silent', 'doctor') });
}

function answerOf(findings: readonly Finding[], failed: boolean): Record<string, unknown> {
  return { ok: !failed, findings };
}

/** For people: each fault has its remedy on the next line. */
export function linesOf(findings: readonly Finding[]): string[] {
  const order = Object.keys(CHECKS);
  const place = (check: CheckId): number => order.indexOf(check);
  return [...findings]
    .sort((one, other) => place(one.check) - place(other.check))
    .flatMap(({ check, verdict, says, remedy }) => [
      `${MARKS[verdict]} ${CHECKS[check]}: ${says}`,
      ...(remedy === null ? [] : [`          → ${remedy}`]),
    ]);
}
