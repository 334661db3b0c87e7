import type { Readable } from 'node:stream';
import { columnsOf, objectWriter, type ResultColumn } from './json-rows.ts';
import { plainLineEnds, type RowLimits, wholeRows } from './whole-rows.ts';

/** A JSON answer around rows that are still being read: the facts that only the last row tells stand behind the rows. */

export interface JsonAnswer {
  readonly rows: 'objects' | 'arrays';
  readonly limits: Pick<RowLimits, 'rowsMax' | 'bytesMax'>;
  /** Fields behind the rows; called when they have ended. */
  tail(facts: { readonly rowCount: number; readonly truncated: boolean }): Readonly<Record<string, unknown>>;
}

const HEAD_LINES = 2;

/** `{"columns":[…],"rows":[…],…tail}`, from the lines of JSONCompactEachRowWithNamesAndTypes. */
export async function* jsonAnswer(
  body: Readable,
  { rows, limits, tail }: JsonAnswer,
): AsyncGenerator<string, void, undefined> {
  const tally = { rows: 0, bytes: 0, truncated: false };
  const bounds: RowLimits = { ...limits, headLines: HEAD_LINES };
  const printed = printer(rows, limits.bytesMax);
  for await (const chunk of wholeRows(body, plainLineEnds(), bounds, tally)) {
    const text = printed.take(chunk.toString('utf8').split('\n').slice(0, -1));
    if (text !== '') yield text;
    if (printed.isFull()) break;
  }
  const rest = tail({ rowCount: printed.rowCount(), truncated: tally.truncated || printed.isFull() });
  // An object without its opening brace.
  yield `${printed.end()},${JSON.stringify(rest).slice(1)}`;
}

interface Printer {
  /** Whole lines, the head lines first; answers the text that they make. */
  take(lines: readonly string[]): string;
  /** A row did not fit any more. */
  isFull(): boolean;
  rowCount(): number;
  end(): string;
}

function printer(form: JsonAnswer['rows'], bytesMax: number): Printer {
  const head: string[] = [];
  let write: ((line: string) => string) | undefined;
  let bytes = 0;
  let count = 0;
  let isFull = false;
  const begin = (): string => {
    const columns = columnsOf(head[0] ?? '[]', head[1] ?? '[]', { unique: form === 'objects' });
    write = form === 'objects' ? objectWriter(columns) : (line) => line;
    return `{"columns":${columnsText(columns)},"rows":[`;
  };
  return {
    take(lines) {
      let text = '';
      for (const line of lines) {
        if (write === undefined) {
          head.push(line);
          if (head.length === HEAD_LINES) text += begin();
          continue;
        }
        const row = write(line);
        bytes += Buffer.byteLength(row) + 1;
        if (bytes > bytesMax) {
          isFull = true;
          break;
        }
        text += count === 0 ? row : `,${row}`;
        count += 1;
      }
      return text;
    },
    isFull: () => isFull,
    rowCount: () => count,
    end: () => (write === undefined ? `${begin()}]` : ']'),
  };
}

function columnsText(columns: readonly ResultColumn[]): string {
  return JSON.stringify(columns);
}
