import { type CursorKeys, mintCursor, readCursor } from '../domain/cursor.ts';
import type { Position } from '../domain/settlement.ts';
import { fail } from '../errors.ts';

/** Cursors of one list. `scope` binds them: a cursor of another list, wallet or deployment is refused. */
export function readBefore(
  keys: CursorKeys,
  scope: string,
  before: string | undefined,
): Position | undefined {
  if (before === undefined) return undefined;
  const position = readCursor(keys, scope, before);
  if (position !== undefined) return position;
  throw fail('invalid_parameter', {
    parameter: 'before',
    detail:
      'before is not a cursor of this list: it is altered, cut short, or from another list or deployment.',
  });
}

export function nextBefore(keys: CursorKeys, scope: string, position: Position | undefined): string | null {
  return position === undefined ? null : mintCursor(keys, scope, position);
}
