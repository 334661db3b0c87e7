/** Examples come as one line; in an editor each clause begins its own. Pure: also run by tests outside of a browser. */

const CLAUSES =
  /\s+(?=(?:FROM|PREWHERE|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|(?:INNER |LEFT |RIGHT |FULL )?JOIN|UNION ALL)\b)/g;
const STRING = /'(?:[^'\\]|\\.|'')*'/;

/** Leaves a text alone that has lines already, or brackets with clauses of their own. */
export function inLines(sql: string): string {
  if (sql.includes('\n') || /\(\s*SELECT/i.test(sql)) return sql;
  // What stands in quotes is not ours to break.
  return sql
    .split(new RegExp(`(${STRING.source})`))
    .map((part, index) => (index % 2 === 1 ? part : part.replace(CLAUSES, '\n')))
    .join('');
}
