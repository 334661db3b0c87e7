import { parentPort } from 'node:worker_threads';
import { DIALECTS, likelyFirst } from './dialects.ts';
import { translated } from './translate.ts';
import type { FromTranslateThread, ToTranslateThread } from './translator.ts';

/** The thread in which texts of other dialects are parsed. It may be ended at any moment: it holds nothing that is not in its code. */

const port = parentPort;
if (port === null) throw new Error('translate-thread.ts runs as a worker thread only');

const answer = (message: FromTranslateThread): void => port.postMessage(message);

port.on('message', ({ id, text, dialect }: ToTranslateThread) =>
  answer(
    dialect === null
      ? { id, sql: null, dialects: likelyFirst(text) }
      : { id, sql: translated(text, dialect) },
  ),
);
// Loads each grammar and compiles what every text needs, so that the time limit of a text is for the text alone.
for (const dialect of DIALECTS) translated('SELECT a FROM b WHERE c = 1', dialect);
answer({ id: 'ready', sql: null });
