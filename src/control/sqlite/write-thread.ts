import { parentPort, workerData } from 'node:worker_threads';
import { createCommitter } from './commit-batch.ts';
import type { WriteRequest } from './write-types.ts';

/** Entry of the thread that writes: takes batches, commits, answers. It waits for the disk so that the API's thread need not. */

/** What the thread is started with. */
export interface WriteThreadData {
  readonly path: string;
}

/** A batch, or the word to finish. */
export type ToWriteThread = { readonly requests: readonly WriteRequest[] } | { readonly close: true };

if (parentPort === null) throw new Error('the write thread is started by the write queue');
const port = parentPort;
// Made by the write queue from the same types.
const { path } = workerData as WriteThreadData;
const committer = createCommitter(path);

port.on('message', (message: ToWriteThread) => {
  if ('requests' in message) {
    port.postMessage(committer.commit(message.requests));
    return;
  }
  committer.close();
  port.close();
});
