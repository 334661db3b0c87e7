import { clickhouse, formatDialect, postgresql } from 'sql-formatter';
import { clickHouseDialect } from './completion.ts';

/** Lays out a query. In a chunk of its own, loaded when a visitor formats for the first time. */

/** In this order: a text that is not the SQL of ClickHouse may still be read as PostgreSQL, as the API does for its suggestions. */
const DIALECTS = [clickhouse, postgresql] as const;

/** Placeholders of ClickHouse, which stay as they are. */
const PLACEHOLDER = /\{\s*[A-Za-z_]\w*\s*:[^{}]*\}/.source;

/** How long a bracket may be before it is broken into lines. */
const EXPRESSION_WIDTH = 90;

/**
 * The text in lines and indents; null where neither dialect can be read, or where the package would change anything but white space. So a
 * formatted query is always the same query.
 */
export function formatSql(sql: string): string | null {
  for (const dialect of DIALECTS) {
    const text = formattedIn(dialect, sql);
    const compact = text === null ? null : compacted(text);
    if (compact !== null && sameTokens(compact, sql)) return compact;
  }
  return null;
}

function formattedIn(dialect: (typeof DIALECTS)[number], sql: string): string | null {
  try {
    return formatDialect(sql, {
      dialect,
      tabWidth: 2,
      // Case can carry meaning: names of functions and columns are case-sensitive.
      keywordCase: 'preserve',
      functionCase: 'preserve',
      dataTypeCase: 'preserve',
      expressionWidth: EXPRESSION_WIDTH,
      paramTypes: { custom: [{ regex: PLACEHOLDER }] },
    });
  } catch {
    return null; // The package rejects a text that it cannot read with an error of no type of its own.
  }
}

/** A clause of one line after its keyword: `FROM settlements`. */
const SHORT_CLAUSE =
  /^([ ]*)((?:FROM|PREWHERE|WHERE|HAVING|QUALIFY|GROUP BY|ORDER BY|LIMIT|OFFSET)\b)\n\1 {2}(?! |\()([^\n]+)(?=\n\1(?! {2})|\n {0,}\)|$(?!\n))/gim;

/** The package puts a space before the number of a tuple's element, where it would begin a number of its own. */
const SPACED_ELEMENT = /(?<=[\w)\]]) \.(?=\d)/g;

function compacted(text: string): string {
  return text.replace(SPACED_ELEMENT, '.').replace(SHORT_CLAUSE, '$1$2 $3');
}

const { parser } = clickHouseDialect([]).language;

/** Whether two texts differ in white space alone: outside strings, quoted names and comments. */
export function sameTokens(a: string, b: string): boolean {
  const [left, right] = [tokensOf(a), tokensOf(b)];
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/**
 * The parts of a text as the parser of the editor reads them. White space around a comment says nothing; a formatter may indent the lines of
 * a block comment.
 */
function tokensOf(sql: string): string[] {
  const tokens: string[] = [];
  let end = 0;
  parser.parse(sql).iterate({
    enter: ({ name, from, to, node }) => {
      if (node.firstChild !== null) return;
      // What the parser skips, such as signs that it does not know.
      const skipped = sql.slice(end, from).trim();
      if (skipped !== '') tokens.push(skipped);
      end = to;
      const text = sql.slice(from, to);
      // `a.1` is an element of a tuple, `a .1` a name and a number.
      const isSpaced = text.startsWith('.') && /\s/.test(sql.charAt(from - 1));
      if (text !== '')
        tokens.push(
          name.endsWith('Comment') ? text.replace(/\s+/g, ' ').trim() : `${isSpaced ? ' ' : ''}${text}`,
        );
    },
  });
  return [...tokens, sql.slice(end).trim()];
}
