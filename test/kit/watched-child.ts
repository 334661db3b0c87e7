import { createLog } from '../../core/log.ts';
import { createRequestMarks } from '../../core/process/request-marks.ts';
import { watchLoop } from '../../core/process/watch-loop.ts';

/** A process with a watched loop, which prints a line at each turn of a timer and stops its loop on the word that it is sent. */

const [, , limitMs = '', dataDir = ''] = process.argv;
const marks = createRequestMarks();
watchLoop({
  name: 'watched',
  log: createLog('info', 'watched'),
  dataDir,
  limitMs: Number(limitMs),
  marks: marks.memory,
});
marks.begin('/answered').end();
marks.begin('/v0/flows?wallet=0xabc');
process.stdin.setEncoding('utf8').on('data', (word: string) => {
  marks.begin('/v0/sql').body(Buffer.from('SELECT secret'));
  if (word === 'spin') for (;;);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  if (word === 'pause') Atomics.wait(cell, 0, 0);
  if (word === 'nap') Atomics.wait(cell, 0, 0, Number(limitMs) * 3);
  process.stdout.write('on again\n');
});
setInterval(() => process.stdout.write('turn\n'), 50);
