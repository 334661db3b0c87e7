import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';

/**
 * The engine's words as a caller may read them. It names databases, users, settings, internal aliases and pieces of the views'
 * bodies; all of that stands in parts of a sentence that are cut, or in names that are replaced. What still looks like ours after
 * that is not shown at all: better no words than one too many (api.md 5).
 */

/** Where a sentence stops speaking to its reader: the query again, the plan's expressions, parts and paths. */
const TAILS = [
  /[.:]? [Ii]n scope [\s\S]*$/,
  /[.:]? In query [\s\S]*$/,
  /[:,]? [Ww]hile executing [\s\S]*$/,
  /[:,]? \(?while (reading|processing|converting|parsing|planning)[\s\S]*$/i,
  /[:,]? during evaluation of [\s\S]*$/,
  /\. Consider (raising|increasing|using)[\s\S]*$/,
  /\. To ignore this error[\s\S]*$/,
  /\.? ?(Maybe you meant|You can|Note: there (is|are)|Please |Look at |If it happens|Stack trace|See )[\s\S]*$/,
  /[.:]? ?\((?:[A-Z_]{3,})\)[\s\S]*$/,
  /[.:]? ?\(version [\s\S]*$/,
];
const UUID = /\s*\([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\)/g;
const QUALIFIED = new RegExp(`\\b\\w+\\.(${PUBLIC_TABLE_NAMES.join('|')})\\b`, 'g');
/** What only the engine and its operator know: nothing that holds one of these is shown. */
const OURS =
  /__\w|_public\b|\bDB::|::Column|\bStorage\b|\bsetting|\bguest\b|\bwriter\b|\breader\b|_[0-9a-f]{6,}|(?:^|[\s'"(=])\/\w+\/\w|\b\d+\.\d+\.\d+\.\d+\b|\bversion\b|\bserver\b|privileges|\bGRANT\b|https?:|\bthread|\bhost\b/i;
const WORDS_MAX_CHARS = 240;

/** One sentence, or undefined where nothing can be shown. */
export function cleanWords(message: string): string | undefined {
  let words = message.replace(/^(Code: \d+\. )?(DB::Exception: )?(OptimizedRegularExpression: )?/, '');
  for (const tail of TAILS) words = words.replace(tail, '');
  words = words.replaceAll(UUID, '').replaceAll(QUALIFIED, '$1').replaceAll(/\s+/g, ' ').trim();
  words = words.replace(/[.:,]+$/, '');
  if (words === '' || OURS.test(words)) return undefined;
  return words.length > WORDS_MAX_CHARS ? `${words.slice(0, WORDS_MAX_CHARS)}…` : `${words}.`;
}
