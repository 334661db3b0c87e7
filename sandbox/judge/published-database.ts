import { PUBLISHED_DATABASE } from '../../clickhouse/catalogue/tables.ts';
import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import type { Token } from './parser.ts';

/** A canonical text in which no public table is named with the published database. */
export function withoutPublishedDatabase(canonical: string, tokens: readonly Token[]): string {
  // A table or column that the text itself calls so: what follows its dot is no public table.
  if (tokens.some((token, at) => isDatabase(token) && tokens[at - 1]?.text === 'AS')) return canonical;
  const bytes = Buffer.from(canonical);
  const kept: Buffer[] = [];
  let from = 0;
  for (const [at, token] of tokens.entries()) {
    const table = tokens[at + 2];
    if (!isDatabase(token) || tokens[at + 1]?.kind !== 'Dot' || table === undefined) continue;
    if (tokens[at - 1]?.kind === 'Dot' || !Object.hasOwn(PUBLIC_TABLES, bare(table))) continue;
    kept.push(bytes.subarray(from, token.at));
    from = table.at;
  }
  return Buffer.concat([...kept, bytes.subarray(from)]).toString('utf8');
}

function isDatabase(token: Token): boolean {
  const isName = token.kind === 'BareWord' || token.kind === 'QuotedIdentifier';
  return isName && bare(token) === PUBLISHED_DATABASE;
}

function bare({ text }: Token): string {
  return text.replace(/[`"]/g, '');
}
