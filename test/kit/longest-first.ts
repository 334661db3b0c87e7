import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects from the longest files to the shortest, so that no long one is left over for one worker when the others are done. */
const PROJECTS = ['e2e', 'browser', 'engine', 'redis', 'fast'];
/** Written by `npm run test:all -- --write-long-files`: what takes longer than a quarter of a minute, the longest first. */
export const LONG_FILES_PATH = new URL('long-files.json', import.meta.url);
/** Names within `test/` without their ending. A file that is missing here runs after these. */
export const LONG_FILES = JSON.parse(readFileSync(LONG_FILES_PATH, 'utf8')) as readonly string[]; // our own file

/**
 * Vitest runs the larger files first where it has not seen them run, as in a fresh clone. Size says little about files that
 * start processes and kill them. Each project stays in one piece: its files share what the worker has loaded.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort(
      (one, other) => projectPlace(one) - projectPlace(other) || lengthPlace(one) - lengthPlace(other),
    );
  }
}

/** A project that is missing above comes first. */
function projectPlace({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name);
}

function lengthPlace({ moduleId }: TestSpecification): number {
  const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONG_FILES.length : place;
}
