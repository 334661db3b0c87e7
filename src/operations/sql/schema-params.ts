import { Type } from '@sinclair/typebox';
import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../../core/domain/public-tables.ts';
import { fail } from '../../../core/errors.ts';
import { nearest } from '../../../core/nearest-name.ts';
import { type Param, quoted } from '../params.ts';

/** Parameters of the schema of SQL: what of it is wanted. */

/** All tables, or all functions. */
export const EVERYTHING = '*';

const FUNCTION_SEARCH_MAX_CHARS = 64;
/** The longest search still names every function that could be meant; the rest takes a longer word. */
export const FUNCTIONS_SHOWN_MAX = 100;

export const schemaTableParam: Param<PublicTableName | typeof EVERYTHING | undefined> = {
  in: 'query',
  description: `This table with its columns and an example; \`${EVERYTHING}\` for all tables. Without it tables are listed by name, in one line each.`,
  toolText: 'Name of one table, for its columns.',
  required: false,
  schema: Type.String({ pattern: '^([a-z_]+|\\*)$' }),
  example: 'settlements',
  read: (raw, name) => {
    if (raw === undefined || raw === EVERYTHING) return raw;
    const table = PUBLIC_TABLE_NAMES.find((known) => known === raw);
    if (table !== undefined) return table;
    const meant = typeof raw === 'string' ? nearest(raw, PUBLIC_TABLE_NAMES) : undefined;
    const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw fail('invalid_parameter', {
      parameter: name,
      detail: `There is no table ${quoted(raw)}.${guess} Tables: ${PUBLIC_TABLE_NAMES.join(', ')}; ${EVERYTHING} for all.`,
    });
  },
};

export const schemaFunctionsParam: Param<string | undefined> = {
  in: 'query',
  description: `Allowed functions in whose names a word begins so, in any case: \`date\` finds dateDiff, toDate and str_to_date. At most ${FUNCTIONS_SHOWN_MAX}; \`${EVERYTHING}\` for all of them. Without it no function is listed.`,
  toolText: 'A prefix or word, such as date or quantile: allowed functions with it in their names.',
  required: false,
  schema: Type.String({ minLength: 1, maxLength: FUNCTION_SEARCH_MAX_CHARS }),
  example: 'quantile',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && (raw === EVERYTHING || /^\w{1,64}$/.test(raw))) return raw;
    throw fail('invalid_parameter', {
      parameter: name,
      detail: `${name} must be the beginning of a function's name or of a word in it (letters, digits and _, at most ${FUNCTION_SEARCH_MAX_CHARS}), or ${EVERYTHING}, not ${quoted(raw)}.`,
    });
  },
};

/** Whether a word of the name begins with the text: `toDateTime` has the words to, Date and Time. */
export function hasWord(name: string, text: string): boolean {
  const lower = name.toLowerCase();
  const wanted = text.toLowerCase();
  if (lower.startsWith(wanted)) return true;
  for (const { index } of name.matchAll(WORD_BEGINNINGS)) if (lower.startsWith(wanted, index)) return true;
  return false;
}

/** After a `_`, at a capital after a small letter or digit, at the last of several capitals, at the first digit. */
const WORD_BEGINNINGS = /(?<=_)\w|(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])|(?<=[A-Za-z])\d/g;
