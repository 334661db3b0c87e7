import { OWN_DATABASE } from '../../core/domain/own-table.ts';
import type { OwnTables } from '../policy/own-tables.ts';
import { type Piece, replacement } from './caller-text.ts';
import { bare } from './client-text.ts';
import type { Token } from './parser.ts';
import { isTablePlaceAt } from './stand-ins.ts';

/**
 * What stands for `my.<name>` in the engine's text: the name under which the engine gets the table, which keeps its short name as its
 * alias where the text gives none. A name in another place stays, and is refused like any unknown table.
 */
export function ownNames(tokens: readonly Token[], own: OwnTables): Piece[] {
  const byName = new Map([...own].map(([attached, { name }]) => [name, attached]));
  return tokens.flatMap((database, at): Piece[] => {
    const [before, dot, table, after] = [tokens[at - 1], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
    if (!isName(database) || bare(database) !== OWN_DATABASE || before?.kind === 'Dot') return [];
    if (dot?.kind !== 'Dot' || !isName(table)) return [];
    const attached = byName.get(bare(table));
    if (attached === undefined) return [];
    const from = database.at;
    // Before a column, which belongs to the table by its short name.
    if (after?.kind === 'Dot') return [{ ...replacement(dot, ''), from }];
    if (!isTablePlaceAt(tokens, at) || after?.kind === 'OpeningRoundBracket') return [];
    const isNamed = before?.text === 'IN' || (after?.kind === 'BareWord' && after.text === 'AS');
    return [{ ...replacement(table, isNamed ? attached : `${attached} AS ${bare(table)}`), from }];
  });
}

function isName(token: Token | undefined): token is Token {
  return token?.kind === 'BareWord' || token?.kind === 'QuotedIdentifier';
}
