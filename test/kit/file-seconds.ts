import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { LONG_FILES_PATH } from './longest-first.ts';

const MS_PER_SECOND = 1_000;
const SLOWEST_FILES = 10;
/** Files from this length on run first; see longest-first.ts. */
const LONG_MS = 15_000;
/** Set by `npm run test:all -- --write-long-files`. */
const WRITES_LONG_FILES = process.env['TEST_WRITE_LONG_FILES'] === '1';

const NAME = /\/test\/([^:]+)\.test\.ts$/;

/** Prints the seconds of each project and the slowest files, and writes the list of long files where that was asked for. */
export class FileSeconds implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({
        project: module.project.name,
        name: NAME.exec(module.moduleId)?.[1] ?? module.moduleId,
        ms: module.diagnostic().duration,
      }))
      .sort((one, other) => other.ms - one.ms);
    const ofProjects = new Map<string, number>();
    for (const { project, ms } of files) ofProjects.set(project, (ofProjects.get(project) ?? 0) + ms);
    const line = (ms: number, name: string): string =>
      `${(ms / MS_PER_SECOND).toFixed(1).padStart(8)} s  ${name}\n`;
    process.stdout.write(
      [
        '\nseconds of tests in each project\n',
        ...[...ofProjects].map(([project, ms]) => line(ms, project)),
        'slowest files\n',
        ...files.slice(0, SLOWEST_FILES).map(({ ms, name }) => line(ms, name)),
      ].join(''),
    );
    if (!WRITES_LONG_FILES) return;
    const long = files.filter(({ ms }) => ms >= LONG_MS).map(({ name }) => name);
    writeFileSync(LONG_FILES_PATH, `${JSON.stringify(long, null, 2)}\n`);
  }
}
