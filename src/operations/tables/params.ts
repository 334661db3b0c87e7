import { Type } from '@sinclair/typebox';
import {
  isOwnType,
  OWN_TABLE_BYTES_MAX,
  OWN_TABLE_COLUMNS_MAX,
  OWN_TABLE_NAME,
  OWN_TYPES_TEXT,
  UPLOAD_FORMATS,
  type UploadFormat,
} from '../../../core/domain/own-table.ts';
import { splitAt } from '../../../sandbox/results/column-type.ts';
import { invalid, type Param, quoted, readChoice } from '../params.ts';

/** The fields of requests about tables of one's own. */

export const tableNameParam: Param<string> = {
  in: 'path',
  component: 'TableName',
  description: 'Name of the table: a lower-case letter, then lower-case letters, digits and _, 40 at most.',
  required: true,
  schema: Type.String({ pattern: OWN_TABLE_NAME.source }),
  example: 'labels',
  read: (raw, name) => {
    if (typeof raw === 'string' && OWN_TABLE_NAME.test(raw)) return raw;
    throw invalid(
      name,
      `${name} must be a lower-case letter, then lower-case letters, digits and _, 40 at most, not ${quoted(raw)}.`,
    );
  },
};

/** The media types of files, and what each holds. */
export const UPLOAD_MEDIA: Readonly<Record<string, UploadFormat>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
};

export const UPLOAD_EXAMPLES = {
  csv: 'wallet,label\n0x4020615294c913f045dc10f0a5cdebd86c280001,Exchange\n',
  ndjson: '{"wallet":"0x4020615294c913f045dc10f0a5cdebd86c280001","label":"Exchange"}\n',
} as const satisfies Partial<Record<UploadFormat, string>>;

export const rowsParam: Param<Buffer> = {
  in: 'body',
  description: `The rows as one text in \`format\`: CSV begins with a line of names, NDJSON has an object on each line. A file is sent as the body itself, with its media type and \`types\` in the URL. At most ${OWN_TABLE_BYTES_MAX / 1e6} MB.`,
  required: true,
  schema: Type.String({ minLength: 1 }),
  example: UPLOAD_EXAMPLES.csv,
  read: (raw, name) => {
    const bytes = typeof raw === 'string' ? Buffer.from(raw) : raw;
    if (!Buffer.isBuffer(bytes) || bytes.length === 0)
      throw invalid(name, `${name} must be a text with the rows, or the file is the body itself.`);
    if (bytes.length <= OWN_TABLE_BYTES_MAX) return bytes;
    throw invalid(name, `${name} has ${bytes.length} bytes; a table may have ${OWN_TABLE_BYTES_MAX}.`);
  },
};

/** Parquet is no text, so it comes as a file only. */
const TEXT_FORMATS = ['csv', 'ndjson'] as const;

export const uploadFormatParam: Param<UploadFormat> = {
  in: 'body',
  description: 'The form of `rows`. Of a file its media type says it.',
  required: false,
  schema: Type.Union(
    TEXT_FORMATS.map((format) => Type.Literal(format)),
    { default: 'csv' },
  ),
  read: (raw = 'csv', name) => readChoice(raw, name, UPLOAD_FORMATS),
};

const TYPES_MAX_CHARS = 16_384;

export const typesParam: Param<ReadonlyMap<string, string>> = {
  in: 'body',
  description: `Types in place of those that the engine finds: \`wallet:String,first_seen:DateTime\`. There are ${OWN_TYPES_TEXT}.`,
  required: false,
  schema: Type.String({ maxLength: TYPES_MAX_CHARS }),
  example: 'wallet:String,label:String',
  read: (raw, name) => {
    if (raw === undefined) return new Map();
    if (typeof raw !== 'string' || raw.length > TYPES_MAX_CHARS) throw wrongTypes(name);
    const pairs = splitAt(',', raw).map((pair) => {
      const [column = '', type = '', ...more] = pair.split(':').map((part) => part.trim());
      if (column === '' || more.length > 0) throw wrongTypes(name);
      if (isOwnType(type)) return [column, type] as const;
      throw invalid(name, `${name} gives a column the type ${quoted(type)}. There are ${OWN_TYPES_TEXT}.`);
    });
    const types = new Map(pairs);
    if (types.size === pairs.length && types.size <= OWN_TABLE_COLUMNS_MAX) return types;
    throw invalid(name, `${name} names a column twice, or more than ${OWN_TABLE_COLUMNS_MAX} of them.`);
  },
};

function wrongTypes(name: string): Error {
  return invalid(name, `${name} must be columns with their types, such as wallet:String,amount:UInt256.`);
}
