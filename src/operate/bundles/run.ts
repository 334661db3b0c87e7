import type { EngineAccess } from '../../../clickhouse/engine/engine.ts';
import type { Config } from '../../../core/config/config.ts';
import { makeBundles } from '../../bundles/make.ts';
import { directoryStore } from '../../bundles/store.ts';
import { type Verified, verifyBundles } from '../../bundles/verify/verify.ts';
import { readChainStatus } from '../../operations/index-state/chain-status.ts';
import { tellSteps } from '../backup/progress.ts';
import { type BundleArguments, readVerifyOrder, readWanted, type VerifyArguments } from './command.ts';

/** The two commands, with what they print. */

export interface Printing {
  readonly signal: AbortSignal;
  /** Whether the output is a terminal: progress is then printed more often. */
  readonly isTerminal: boolean;
  say(line: string): void;
}

export async function runBundle(
  {
    config,
    access,
    ...printing
  }: Printing & { readonly config: Config; readonly access: () => Promise<EngineAccess> },
  given: BundleArguments,
): Promise<void> {
  const wanted = readWanted(given, config);
  const { signal, say } = printing;
  const made = await makeBundles(
    {
      config,
      access: await access(),
      store: directoryStore(config.bundles.dir),
      readProgress: readChainStatus,
      signal,
      say,
      progress: (total) => tellSteps('bundle', 'days', total, printing),
    },
    wanted,
  );
  say(
    `${made.files} files made in ${config.bundles.dir}, ${made.revised} of them new revisions; ${made.unchanged} days were read again and had not changed`,
  );
}

/** Whether all is as it should be. */
export async function runVerify(printing: Printing, path: string, given: VerifyArguments): Promise<boolean> {
  const quiet = given.json === true;
  const { signal, say } = printing;
  const verified = await verifyBundles(
    {
      signal,
      say: quiet ? () => undefined : say,
      progress: (total) =>
        tellSteps('verify', 'days', total, { ...printing, say: quiet ? () => undefined : say }),
    },
    readVerifyOrder(path, given),
  );
  if (quiet) say(JSON.stringify(asJson(verified)));
  else for (const line of linesOf(verified, given.url)) say(line);
  return verified.problems.length === 0;
}

function asJson({ manifests, days, rows, isKeyKnown, signedBy, problems }: Verified) {
  return {
    ok: problems.length === 0,
    manifests,
    days,
    rows,
    key_known: isKeyKnown,
    signed_by: signedBy,
    problems,
  };
}

function linesOf(
  { manifests, days, rows, isKeyKnown, signedBy, problems }: Verified,
  url: string | undefined,
): string[] {
  const faults = problems.map(({ chain, table, day, detail }) =>
    [`${chain} ${table}`, ...(day === null ? ['manifest'] : [day])].join(' ').concat(`: ${detail}`),
  );
  const whose =
    isKeyKnown === null
      ? `signed by ${signedBy.join(', ')}; whether that is a key of the service, --url or --keys would show`
      : `signed by ${signedBy.join(', ')}`;
  const compared = url === undefined ? 'were not compared with an API' : `are the rows of ${url}`;
  const counted = `${manifests} manifests, ${days} days, ${rows} rows`;
  if (faults.length > 0) return [...faults, `${counted}: ${faults.length} problems; ${whose}`];
  return [`${counted}: files and hashes are as they were signed, and the rows ${compared}; ${whose}`];
}
