import { type Command, Option } from 'commander';
import { nearest } from '../../../core/command-text.ts';
import type { Config } from '../../../core/config/config.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { isDay } from '../../../core/text.ts';
import { UserError } from '../../../core/user-error.ts';
import type { BundleOrder } from '../../bundles/make.ts';
import { BUNDLE_TABLE_NAMES, isBundleTable } from '../../bundles/tables.ts';
import type { VerifyOrder } from '../../bundles/verify/verify.ts';

/** How `bundle` and `verify` are written on the command line. */

export interface BundleArguments {
  readonly chain?: readonly string[];
  readonly table?: readonly string[];
}

export interface VerifyArguments {
  readonly url?: string;
  readonly key?: string;
  readonly keys?: string;
  readonly since?: string;
  readonly until?: string;
  readonly json?: boolean;
}

const BUNDLE_HELP = `
Writes into bundles.dir: one Parquet file for each finalized UTC day, chain and table, and a signed manifest for each chain and table.
Days that are there are left alone unless rows of them changed; those get a file of the next revision, and the old one stays. Works
with or without a running service: give the same --config and environment. A run that was killed is continued by the same command.
Tables: ${BUNDLE_TABLE_NAMES.join(', ')}.
Exit codes: 0 done, 1 failed, 2 something must be corrected. What it means: docs/bundles.md`;

const VERIFY_HELP = `
Checks the signature of each manifest, the chain of its hashes, each file and the hash of its rows. With --url the rows of each day are
also read from that API, with SQL (a unit or more for each day and table), and the first row that differs is named.
Needs no engine and no configuration. Exit codes: 0 all is as it should be, 1 something differs, 2 something must be corrected.
What it means: docs/bundles.md`;

const KEY_VARIABLE = 'SETTLEMENT_INDEX_KEY';

export function addBundleCommands(
  program: Command,
  run: {
    bundle(given: BundleArguments): Promise<void>;
    verify(path: string, given: VerifyArguments): Promise<void>;
  },
): void {
  program
    .command('bundle')
    .description('make the daily Parquet files that are missing, then end')
    .addOption(new Option('--chain <chain...>', 'only these chains, such as eip155:8453 (default: all)'))
    .addOption(new Option('--table <table...>', 'only these tables (default: all)'))
    .addHelpText('after', BUNDLE_HELP)
    .action((given: BundleArguments) => run.bundle(given));
  program
    .command('verify')
    .description('check bundles, and compare them with an API')
    .argument('<path>', 'a directory with bundles, or a manifest.json')
    .option('--url <url>', 'the API to compare with, such as https://index.example')
    .addOption(new Option('--key <key>', 'API key for the comparison').env(KEY_VARIABLE))
    .option('--keys <file>', 'a copy of /.well-known/bundle-keys.json (default: that of --url)')
    .option('--since <day>', 'only from this UTC day on, such as 2026-11-01')
    .option('--until <day>', 'only up to this UTC day')
    .option('--json', 'print one JSON object instead of lines')
    .addHelpText('after', VERIFY_HELP)
    .action((path: string, given: VerifyArguments) => run.verify(path, given));
}

/** Throws `UserError` that says what would be right. */
export function readWanted(
  { chain = [], table = [] }: BundleArguments,
  config: Pick<Config, 'chains'>,
): BundleOrder {
  const chains = config.chains.map((entry) => entry.chain);
  const wanted = chain.map((name): Chain => {
    const found = chains.find((each) => each === name);
    if (found === undefined)
      throw new UserError(`--chain takes a chain of the configuration (${chains.join(', ')}), not "${name}"`);
    return found;
  });
  const tables = table.map((name) => {
    if (isBundleTable(name)) return name;
    const meant = nearest(name, [...BUNDLE_TABLE_NAMES]);
    throw new UserError(
      `--table takes ${BUNDLE_TABLE_NAMES.join(', ')}, not "${name}"${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  });
  return {
    chains: wanted.length === 0 ? chains : [...new Set(wanted)],
    tables: tables.length === 0 ? BUNDLE_TABLE_NAMES : [...new Set(tables)],
  };
}

/** Throws `UserError` that says what would be right. */
export function readVerifyOrder(path: string, given: VerifyArguments): VerifyOrder {
  const { url = null, key = null, keys = null, since = null, until = null } = given;
  if (url !== null && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw new UserError(`--url takes an http or https URL, such as https://index.example, not "${url}"`);
  for (const [name, day] of [
    ['--since', since],
    ['--until', until],
  ] as const)
    if (day !== null && !isDay(day))
      throw new UserError(`${name} takes a UTC day, such as 2026-11-01, not "${day}"`);
  if (since !== null && until !== null && since > until)
    throw new UserError('--since is after --until: no day is between them');
  return { path, url, key, keysFile: keys, since, until };
}
