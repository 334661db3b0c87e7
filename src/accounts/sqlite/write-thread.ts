import { parentPort, workerData } from 'node:worker_threads';
import { createCommitter, type WriteOutcome } from './commit-batch.ts';
import type { WriteRequest } from './write-types.ts';

/** Entry of the thread that writes: takes batches, commits, answers. It waits for the disk so that the API's thread need not. */

/** What the thread is started with. */
export interface WriteThreadData {
  readonly path: string;
}

/** A batch, or the word to close the file and end. */
export type ToWriteThread = { readonly requests: readonly WriteRequest[] } | { readonly close: true };

/** The outcomes of a batch, in its order. */
export type FromWriteThread = readonly WriteOutcome[];

if (parentPort === null) throw new Error('the write thread is started by the write queue');
const port = parentPort;
// Made by the write queue from the same type.
const { path } = workerData as WriteThreadData;
const committer = createCommitter(path);

port.on('message', (message: ToWriteThread) => {
  if ('requests' in message) {
    const outcomes: FromWriteThread = committer.commit(message.requests);
    port.postMessage(outcomes);
    return;
  }
  committer.close();
  port.close();
});
