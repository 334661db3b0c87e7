import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostBootstrap } from './host-bootstrap.ts';
import type { LandlockRule } from './landlock.ts';

/**
 * Everything that the engine's process opens from its start to its end: found with strace over migrations, inserts, merges, mutations,
 * sorting on disk, BACKUP and RESTORE. What else it tries (parts of /proc, debug symbols) it does without.
 */

/** Of the machine. Nothing in them tells who is here or what runs. */
const MACHINE = [
  '/etc/ld.so.cache',
  '/etc/ssl/openssl.cnf', // Node ends at once where it is there and cannot be read
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/sys/vm/overcommit_memory',
  '/sys/devices/system/cpu',
  '/sys/fs/cgroup',
  '/sys/kernel/mm/transparent_hugepage',
];
/**
 * Of the process itself: how much memory it has, without which the engine does not start; and what each thread has used, which it
 * asks several times in every query. Refused, each of these questions costs it an exception with a stack, which doubled the time of a
 * look-up. Below `task` lies also the environment of the threads, which is why that has to be clean.
 */
const ITSELF = ['/proc/self/statm', '/proc/self/task'];
const DEVICES = ['/dev/null', '/dev/random', '/dev/urandom', '/dev/zero'];

/** The script of the engine's process. */
export const HOST_SCRIPT = fileURLToPath(new URL('./host.mjs', import.meta.url));

/** `mapped`: what this process has mapped, which is the same Node with the same libraries. */
export function engineRules(bootstrap: HostBootstrap, mapped: readonly string[]): readonly LandlockRule[] {
  const libraries = mapped.filter((path) => basename(path).includes('.so'));
  const runs = [process.execPath, ...libraries.filter((path) => isLoader(path))];
  const reads = [
    ...libraries,
    // What the C library loads when it is needed first.
    ...libraries.filter((path) => isLibc(path)).map((path) => dirname(path)),
    ...packageFiles(),
    dirname(bootstrap.library),
    HOST_SCRIPT,
    ...MACHINE,
    dirname(bootstrap.configFile),
    ...bootstrap.borrowed.read,
  ];
  return [
    ...runs.map((path): LandlockRule => ({ path, access: 'run' })),
    ...reads.map((path): LandlockRule => ({ path, access: 'read' })),
    ...ITSELF.map((path): LandlockRule => ({ path, access: 'read', held: true })),
    ...DEVICES.map((path): LandlockRule => ({ path, access: 'use' })),
    ...[bootstrap.path, ...bootstrap.own, ...bootstrap.borrowed.changed].map(
      (path): LandlockRule => ({ path, access: 'own' }),
    ),
  ];
}

/** What a user must be able to read to run the engine. */
export function engineProgram(library: string): readonly string[] {
  return [process.execPath, library, HOST_SCRIPT, ...packageFiles()];
}

/** Where ffi-rs and its native part lie. */
function packageFiles(): string[] {
  const ffi = createRequire(import.meta.url).resolve('ffi-rs');
  const native = nativePackage();
  const directories = [dirname(ffi)];
  try {
    directories.push(dirname(createRequire(ffi).resolve(`${native}/package.json`)));
  } catch {
    // Then it lies in ffi-rs itself, which is how it looks for it first.
  }
  return directories;
}

/** As ffi-rs chooses it where chdb has a library. */
function nativePackage(): string {
  const { platform, arch } = process;
  return `@yuuang/ffi-rs-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
}

/** The files that are mapped into this process, with their real paths. */
export function mappedFiles(): string[] {
  const lines = readFileSync('/proc/self/maps', 'utf8').split('\n');
  const paths = lines.flatMap((line) => /^(?:\S+\s+){5}(\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)];
}

/** What the kernel starts to start a program: ld-linux-x86-64.so.2, ld-2.31.so. */
function isLoader(path: string): boolean {
  return /^ld-.*\.so/.test(basename(path));
}

function isLibc(path: string): boolean {
  return /^libc[.-].*so/.test(basename(path));
}
