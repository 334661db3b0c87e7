import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostBootstrap } from './host-bootstrap.ts';
import type { LandlockRule } from './landlock.ts';

/**
 * Every file that the engine's process needs, found with strace over migrations, inserts, merges, mutations, sorting on disk,
 * BACKUP and RESTORE. It also tries others (parts of /proc, debug symbols) but works without them.
 */

/** System files. They reveal neither users nor running processes. */
const MACHINE = [
  '/etc/ld.so.cache',
  '/etc/ssl/openssl.cnf', // Node exits at once if it exists but cannot be read
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/sys/vm/overcommit_memory',
  '/sys/devices/system/cpu',
  '/sys/fs/cgroup',
  '/sys/kernel/mm/transparent_hugepage',
];
/**
 * Files about the process: its memory, without which the engine does not start, and the usage of each thread, which it reads
 * several times per query. If those reads are refused, each costs an exception with a stack trace, which doubled the time of a
 * look-up. `task` also exposes the environment of the threads, which is why that must be clean.
 */
const ITSELF = ['/proc/self/statm', '/proc/self/task'];
const DEVICES = ['/dev/null', '/dev/random', '/dev/urandom', '/dev/zero'];

/** The script of the engine's process. */
export const HOST_SCRIPT = fileURLToPath(new URL('./host.mjs', import.meta.url));

/** The library with which the script calls the engine: an optional package, so it is looked for only when the engine starts. */
export function ffiLibrary(): string {
  return createRequire(import.meta.url).resolve('ffi-rs');
}

/** `mapped`: the files mapped into this process, which runs the same Node with the same libraries. */
export function engineRules(bootstrap: HostBootstrap, mapped: readonly string[]): readonly LandlockRule[] {
  const libraries = mapped.filter((path) => basename(path).includes('.so'));
  const runs = [process.execPath, ...libraries.filter((path) => isLoader(path))];
  const reads = [
    ...libraries,
    // Loaded lazily by the C library.
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

/** The files that a user must be able to read to run the engine. */
export function engineProgram(library: string): readonly string[] {
  return [process.execPath, library, HOST_SCRIPT, ...packageFiles()];
}

/** The directories of ffi-rs and its native part. */
function packageFiles(): string[] {
  const ffi = ffiLibrary();
  const native = nativePackage();
  const directories = [dirname(ffi)];
  try {
    directories.push(dirname(createRequire(ffi).resolve(`${native}/package.json`)));
  } catch {
    // Then it is inside ffi-rs, where ffi-rs looks first.
  }
  return directories;
}

/** The package that ffi-rs chooses on the platforms that chdb supports. */
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

/** The dynamic loader, which the kernel runs to start a program: ld-linux-x86-64.so.2, ld-2.31.so. */
function isLoader(path: string): boolean {
  return /^ld-.*\.so/.test(basename(path));
}

function isLibc(path: string): boolean {
  return /^libc[.-].*so/.test(basename(path));
}
