import {
  SAVED_ANSWER_REMEMBERED_BYTES,
  SAVED_ANSWERS_REMEMBERED_BYTES,
} from '../../src/operations/saved/answers.ts';
import { RESULT_ANSWER_REMEMBERED_BYTES, RESULTS_REMEMBERED_BYTES } from '../../src/results/kept-file.ts';
import { table } from './markdown.ts';

const MIB = 1024 * 1024;
const mebibytes = (bytes: number): string => `${bytes / MIB} MiB`;

/** The block of docs/scale.md that the bounds of an API process's caches decide. */
export function processMemoryBlock(): string {
  const results = mebibytes(RESULTS_REMEMBERED_BYTES);
  return table(
    ['in memory', 'largest entry', 'at most'],
    [
      ['files of kept results, as they are stored', 'one file', results],
      ['answers written from kept results', mebibytes(RESULT_ANSWER_REMEMBERED_BYTES), results],
      [
        'answers of saved queries',
        mebibytes(SAVED_ANSWER_REMEMBERED_BYTES),
        mebibytes(SAVED_ANSWERS_REMEMBERED_BYTES),
      ],
    ],
  );
}
