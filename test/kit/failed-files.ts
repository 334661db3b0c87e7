import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Writes the files that failed, one a line, into the file that `FAILED_FILES` names, for `.ci/run` to run them again on a quiet machine.
 * Writes nothing when an error belongs to no file: that is no bad moment of one test.
 */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const list = process.env['FAILED_FILES'];
    if (list === undefined || unhandledErrors.length > 0) return;
    const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => relative('.', moduleId));
    writeFileSync(list, failed.map((file) => `${file}\n`).join(''));
  }
}
