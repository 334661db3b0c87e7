import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../demo/random.ts';
import { FAKETIME, type Member, WAYS } from './member.ts';
import type { Stage } from './stage.ts';

/** One thing that goes wrong, and is put right again. */
export interface Fault {
  /** For example `kill ingest-2`. */
  readonly name: string;
  /** What it happens to: two faults at once happen to two things. */
  readonly target: string;
  /** Does the harm. */
  begin(): Promise<void>;
  /** Puts it right; everything runs and reaches everything else afterwards. */
  end(): Promise<void>;
}

const MOMENT_MS = 2_500;
/** Clocks of workers may be hours apart. The clocks of APIs decide when a hold is overdue (two minutes), so they may be half a minute. */
const WORKER_SKEW_MAX_SECONDS = 7_200;
const API_SKEW_MAX_SECONDS = 30;

export const FAULT_KINDS = [
  'kill',
  'kill-engine',
  'kill-redis',
  'freeze',
  'freeze-redis',
  'freeze-engine',
  'cut-way',
  'pull-cable',
  'skew-clock',
  'forget-jobs',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const CAN_BE_LONG: ReadonlySet<FaultKind> = new Set(['freeze', 'cut-way', 'pull-cable']);

/** How long a fault of this kind lasts, milliseconds: a moment or, for some kinds and half of the times, `longMs`. */
export function lengthOf(kind: FaultKind, random: Random, longMs: number): number {
  return CAN_BE_LONG.has(kind) && random.chance(0.5) ? longMs : random.below(MOMENT_MS);
}

/** Which kinds can happen on this machine, and why the others cannot. */
export function possibleKinds(stage: Stage): {
  readonly kinds: readonly FaultKind[];
  readonly missing: readonly string[];
} {
  const missing: string[] = [];
  if (stage.withoutCables !== null) missing.push(`no cable is pulled: ${stage.withoutCables}`);
  if (FAKETIME === undefined)
    missing.push('no clock is wrong: libfaketime is not installed (apt-get install faketime)');
  const kinds = FAULT_KINDS.filter(
    (kind) =>
      (kind !== 'pull-cable' || stage.withoutCables === null) &&
      (kind !== 'skew-clock' || FAKETIME !== undefined),
  );
  return { kinds, missing };
}

export function makeFault(kind: FaultKind, stage: Stage, random: Random): Fault {
  switch (kind) {
    case 'kill-engine':
    case 'freeze-engine':
      return engineFault(kind, stage);
    case 'kill-redis':
    case 'freeze-redis':
    case 'forget-jobs':
      return redisFault(kind, stage);
    default:
      return memberFault(kind, random.pick(stage.members), random);
  }
}

function engineFault(kind: 'kill-engine' | 'freeze-engine', { engine }: Stage): Fault {
  const target = 'engine';
  // Its supervisor starts the next one.
  if (kind === 'kill-engine')
    return { name: 'kill engine', target, begin: async () => signal(engine.pid(), 'SIGKILL'), end: nothing };
  const pid = engine.pid();
  return {
    name: 'freeze engine',
    target,
    begin: async () => signal(pid, 'SIGSTOP'),
    end: async () => signal(pid, 'SIGCONT'),
  };
}

function redisFault(kind: 'kill-redis' | 'freeze-redis' | 'forget-jobs', stage: Stage): Fault {
  const { redis } = stage;
  const target = 'redis';
  switch (kind) {
    case 'kill-redis':
      return { name: 'kill redis', target, begin: () => redis.kill(), end: () => redis.start() };
    case 'freeze-redis':
      return {
        name: 'freeze redis',
        target,
        begin: async () => redis.freeze(),
        end: async () => redis.thaw(),
      };
    case 'forget-jobs':
      return { name: 'redis forgets jobs and leases', target, begin: () => stage.forgetJobs(), end: nothing };
  }
}

type MemberFault = 'kill' | 'freeze' | 'cut-way' | 'pull-cable' | 'skew-clock';

function memberFault(kind: MemberFault, member: Member, random: Random): Fault {
  const { name, host, ways } = member;
  const target = name;
  switch (kind) {
    case 'kill':
      return { name: `kill ${name}`, target, begin: () => member.kill(), end: async () => member.start(0) };
    case 'freeze':
      return {
        name: `freeze ${name}`,
        target,
        begin: async () => member.freeze(),
        end: async () => member.thaw(),
      };
    case 'cut-way': {
      const way = random.pick(WAYS);
      return {
        name: `cut ${name} from ${way}`,
        target,
        begin: async () => ways[way].cut(),
        end: async () => ways[way].restore(),
      };
    }
    case 'pull-cable':
      return {
        name: `pull the cable of ${name}`,
        target,
        begin: async () => host.cable?.pull(),
        end: async () => host.cable?.plug(),
      };
    case 'skew-clock':
      return skewClock(member, random);
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/** It may have ended, or been replaced, since it was looked up. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** It starts again with another clock, and keeps that. */
function skewClock(member: Member, random: Random): Fault {
  const most = member.role === 'api' ? API_SKEW_MAX_SECONDS : WORKER_SKEW_MAX_SECONDS;
  const skew = random.below(2 * most + 1) - most;
  return {
    name: `start ${member.name} with a clock ${skew} s off`,
    target: member.name,
    async begin() {
      await member.kill();
      member.start(skew);
    },
    end: nothing,
  };
}

/** Begins, waits and ends; whatever happens in between, it is put right. */
export async function suffer(fault: Fault, milliseconds: number): Promise<void> {
  try {
    await fault.begin();
    await sleep(milliseconds);
  } finally {
    await fault.end();
  }
}
