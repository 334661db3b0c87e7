import { commandText } from '../../../core/command-text.ts';
import type { Config } from '../../../core/config/config.ts';
import { lentKeyDigest } from '../../../core/domain/caller.ts';
import { rightsOf } from '../../../core/domain/key-right.ts';
import type { Log } from '../../../core/log.ts';
import { endOfKey, NO_KEY_LIMITS } from '../../accounts/account-store.ts';
import { inspectRedis, type RedisFacts } from '../../accounts/redis/durability.ts';
import type { ControlStore } from '../../accounts/store.ts';
import { OtherVersion, StoreUnavailable } from '../../accounts/store.ts';
import { findDifferences } from '../admin/reconcile.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';
import { judgeClock } from './machine.ts';

/** Whether accounts, units and payments are kept, and whether their books are right. */

export async function checkAccounts(deps: {
  readonly config: Pick<Config, 'console' | 'control'>;
  readonly store: ControlStore;
  readonly nowMs: () => number;
  readonly log: Log;
}): Promise<readonly Finding[]> {
  const { config, store, nowMs, log } = deps;
  const { redisUrl } = config.control;
  try {
    await store.ping();
    const where =
      redisUrl === null
        ? [ok('control_store', 'the SQLite file answers; every change is synced to disk')]
        : await judgeRedis(redisUrl, nowMs, log);
    return [...where, await checkLedger(store), ...(await checkVisitorKey(config, store, nowMs()))];
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return [judgeFailure(error), skipped('ledger', 'nothing to read it from')];
  }
}

/** Shows the store's own reason, which has no password in it. */
function judgeFailure(error: StoreUnavailable): Finding {
  if (error instanceof OtherVersion) return failure('control_store', error.message, error.advice);
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return failure(
    'control_store',
    `it does not answer${reason}`,
    'Start Redis, or correct control.redisUrl; for SQLite look at the disk of the data directory.',
  );
}

async function judgeRedis(url: string, nowMs: () => number, log: Log): Promise<readonly Finding[]> {
  const beforeMs = nowMs();
  const facts = await inspectRedis(url, log);
  const clock = judgeClock({
    whose: 'the clock of Redis',
    theirMs: facts.timeMs,
    beforeMs,
    afterMs: nowMs(),
  });
  return [...judgeDurability(facts.durability), clock];
}

/** What Redis may lose. */
export function judgeDurability(durability: RedisFacts['durability']): readonly Finding[] {
  if (durability === null)
    return [
      warning(
        'control_store',
        'Redis answers, but does not show its persistence settings',
        'Make sure of appendonly yes, appendfsync always and maxmemory-policy noeviction.',
      ),
    ];
  const { appendonly, appendfsync, evicts } = durability;
  const found: Finding[] = [];
  if (appendonly !== 'yes')
    found.push(
      failure(
        'control_store',
        'Redis keeps no append-only file: units and payments are lost when it stops',
        'Set appendonly yes.',
      ),
    );
  else if (appendfsync !== 'always')
    found.push(
      warning(
        'control_store',
        'Redis may lose the last seconds when it is killed',
        'Set appendfsync always.',
      ),
    );
  if (evicts !== 'noeviction')
    found.push(
      failure(
        'control_store',
        `Redis forgets data when its memory is full (${evicts})`,
        'Set maxmemory-policy noeviction.',
      ),
    );
  return found.length > 0 ? found : [ok('control_store', 'Redis answers and keeps what it acknowledges')];
}

/** What the record of the key that the console lends has beyond what visitors need; nothing where it lends none. */
async function checkVisitorKey(
  { console: { visitorKey } }: Pick<Config, 'console'>,
  { accounts }: Pick<ControlStore, 'accounts'>,
  nowMs: number,
): Promise<readonly Finding[]> {
  const digest = lentKeyDigest(visitorKey);
  if (digest === null) return [];
  const found = await accounts.findKey(digest);
  const end = found === null ? 'unknown here' : endOfKey(found.key, nowMs);
  if (found === null || end !== null)
    return [
      warning(
        'visitor_key',
        `console.visitorKey is ${end}: visitors are refused with it`,
        'Set another key, or null.',
      ),
    ];
  const { key, organization } = found;
  const { managesKeys, unitsPerDay } = key.limits ?? NO_KEY_LIMITS;
  const others =
    organization === null
      ? []
      : await accounts.listKeys({ organizationId: organization.id, after: null, limit: 2 });
  const excess = [
    unitsPerDay === null ? 'it has no budget of a day, so one visitor can spend all units' : null,
    managesKeys ? 'its record lets it manage keys' : null,
    rightsOf(key).length > 0 ? `its record gives it rights (${rightsOf(key).join(', ')})` : null,
    others.some(({ id }) => id !== key.id)
      ? 'its organization has other keys, whose units visitors spend'
      : null,
  ].filter((fault) => fault !== null);
  if (excess.length === 0)
    return [ok('visitor_key', 'it has a budget, and nothing that visitors do not need')];
  return [
    warning(
      'visitor_key',
      `every visitor of the console has this key, and ${excess.join('; ')}`,
      `Lend a key of an organization of its own that has a budget: ${commandText('admin key create <organization> --units-per-day <units> --rights none')}. While it is lent it manages no keys and has no rights, whatever its record says.`,
    ),
  ];
}

async function checkLedger(store: ControlStore): Promise<Finding> {
  const { organizations, differing } = await findDifferences(store);
  if (differing.length === 0)
    return ok('ledger', `the books of ${organizations} organizations agree with their rows`);
  return failure(
    'ledger',
    `the figures of ${differing.join(', ')} differ from their rows`,
    `${commandText('admin reconcile')} names each difference: something else wrote to the store, or data was lost. Restore a backup.`,
  );
}
