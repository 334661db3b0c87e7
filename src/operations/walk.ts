import type { Address } from '../../core/domain/address.ts';
import {
  type AgentPosition,
  type CursorKeys,
  mintAgentCursor,
  mintCursor,
  mintWalletCursor,
  readAgentCursor,
  readCursor,
  readWalletCursor,
} from '../../core/domain/cursor.ts';
import type { Position } from '../../core/domain/settlement.ts';
import { fail } from '../../core/errors.ts';

/** Cursors of one list. `scope` binds them: a cursor of another list, wallet or deployment is refused. */
export function readBefore(
  keys: CursorKeys,
  scope: string,
  before: string | undefined,
): Position | undefined {
  if (before === undefined) return undefined;
  return readCursor(keys, scope, before) ?? refuseCursor();
}

/** `readBefore` for a list of wallets. */
export function readWalletBefore(
  keys: CursorKeys,
  scope: string,
  before: string | undefined,
): Address | undefined {
  if (before === undefined) return undefined;
  return readWalletCursor(keys, scope, before) ?? refuseCursor();
}

/** `readBefore` for a list of agents. */
export function readAgentBefore(
  keys: CursorKeys,
  scope: string,
  before: string | undefined,
): AgentPosition | undefined {
  if (before === undefined) return undefined;
  return readAgentCursor(keys, scope, before) ?? refuseCursor();
}

function refuseCursor(): never {
  throw fail('invalid_parameter', {
    parameter: 'before',
    detail:
      'before is not a cursor of this list: it is altered, cut short, or from another list or deployment.',
  });
}

export function nextBefore(keys: CursorKeys, scope: string, position: Position | undefined): string | null {
  return position === undefined ? null : mintCursor(keys, scope, position);
}

export function nextWalletBefore(
  keys: CursorKeys,
  scope: string,
  wallet: Address | undefined,
): string | null {
  return wallet === undefined ? null : mintWalletCursor(keys, scope, wallet);
}

export function nextAgentBefore(
  keys: CursorKeys,
  scope: string,
  position: AgentPosition | undefined,
): string | null {
  return position === undefined ? null : mintAgentCursor(keys, scope, position);
}
