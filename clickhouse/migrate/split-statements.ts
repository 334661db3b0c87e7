/** Matches, in this order: a comment, a quoted text or identifier, a semicolon, or anything else up to the next of those. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S]|'')*'|`(?:[^`\\]|\\[\s\S])*`|"(?:[^"\\]|\\[\s\S])*"|;|[^;'`"/-]+|[\s\S]/g;

/** Splits a migration into statements without comments; a semicolon inside quotes or a comment does not end one. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let current = '';
  for (const [token] of script.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*')) current += ' ';
    else if (token === ';') {
      statements.push(current.trim());
      current = '';
    } else current += token;
  }
  statements.push(current.trim());
  return statements.filter((statement) => statement !== '');
}
