import { spawnSync } from 'node:child_process';
import { isRunning } from '../kit/wait-until.ts';

/**
 * Where a process of the run lives: a network namespace of its own, joined to us by a cable that can be pulled; or, where we may not
 * make any, this machine's loopback interface.
 */
export interface Host {
  /** Where its processes listen and are reached. */
  readonly address: string;
  /** Where it finds what it needs of us. */
  readonly gateway: string;
  /** What stands before a command that is to run there. */
  readonly prefix: readonly string[];
  /** Null where there is no cable. */
  readonly cable: { pull(): void; plug(): void } | null;
  remove(): void;
}

/** Names start with it and the id of the process that made them, so that a later run recognises and sweeps the rest of a killed run. */
const PREFIX = 'sichaos-';
const CABLE_PREFIX = 'sic';
/** Of the host that is made to see whether one can be; runs count from 0 and have fewer. */
const PROBE_INDEX = 15;
/** 10.128.0.0/9: four addresses for each cable. */
const NETWORK_SECOND_MIN = 128;

export function makeLoopbackHost(): Host {
  return { address: '127.0.0.1', gateway: '127.0.0.1', prefix: [], cable: null, remove: () => undefined };
}

/** Whether this process may make such hosts; why not, in words, where it may not. Some sandboxes give namespaces, but no cables. */
export function whyNoNamespaces(): string | null {
  if (spawnSync('ip', ['-V']).error !== undefined) return 'there is no ip command (iproute2)';
  try {
    makeNamespaceHost(PROBE_INDEX).remove();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Removes what runs left that were killed. */
export function sweepNamespaces(): void {
  const { stdout, error } = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' });
  if (error !== undefined) return;
  for (const name of stdout.split('\n').map((line) => line.split(' ')[0] ?? '')) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (Number.isInteger(owner) && !isRunning(owner)) removeNamespace(name);
  }
}

/** The `index`-th host of this process; call `sweepNamespaces` before the first. */
export function makeNamespaceHost(index: number): Host {
  const name = `${PREFIX}${process.pid}-${index}`;
  const cable = `${CABLE_PREFIX}${process.pid}x${index}`;
  const subnet = (process.pid * 64 + index * 4) % 2 ** 23;
  const at = (host: number): string => {
    const number = subnet + host;
    return `10.${NETWORK_SECOND_MIN + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
  };
  const [gateway, address] = [at(1), at(2)];
  ip('netns', 'add', name);
  try {
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('address', 'add', `${gateway}/30`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    ip('-n', name, 'address', 'add', `${address}/30`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
  } catch (error) {
    removeNamespace(name);
    throw error;
  }
  return {
    address,
    gateway,
    prefix: ['ip', 'netns', 'exec', name],
    cable: {
      pull: () => ip('link', 'set', cable, 'down'),
      plug: () => ip('link', 'set', cable, 'up'),
    },
    remove: () => removeNamespace(name),
  };
}

/** Its end of the cable goes with it, and with that ours. */
function removeNamespace(name: string): void {
  const { stdout } = spawnSync('ip', ['netns', 'pids', name], { encoding: 'utf8' });
  for (const pid of stdout.split('\n').filter((line) => line !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  spawnSync('ip', ['netns', 'delete', name]);
}

function ip(...words: string[]): void {
  const { status, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr.trim()}`);
}
