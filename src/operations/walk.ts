import type { Address } from '../../core/domain/account.ts';
import {
  type AgentPosition,
  type ChannelPosition,
  type CursorKeys,
  mintAgentCursor,
  mintChannelCursor,
  mintCursor,
  mintRankedCursor,
  mintWalletCursor,
  type RankedPosition,
  readAgentCursor,
  readChannelCursor,
  readCursor,
  readRankedCursor,
  readWalletCursor,
} from '../../core/domain/cursor.ts';
import type { Position } from '../../core/domain/settlement.ts';
import { fail } from '../../core/errors.ts';

/** How the positions of one kind of list are written into cursors and read back. */
export interface CursorKind<At> {
  mint(keys: CursorKeys, scope: string, position: At): string;
  /** Undefined for a text that is no cursor of this kind and scope. */
  read(keys: CursorKeys, scope: string, text: string): At | undefined;
}

export const SETTLEMENT_CURSOR: CursorKind<Position> = { mint: mintCursor, read: readCursor };
export const WALLET_CURSOR: CursorKind<Address> = { mint: mintWalletCursor, read: readWalletCursor };
export const AGENT_CURSOR: CursorKind<AgentPosition> = { mint: mintAgentCursor, read: readAgentCursor };
export const CHANNEL_CURSOR: CursorKind<ChannelPosition> = {
  mint: mintChannelCursor,
  read: readChannelCursor,
};
export const RANKED_CURSOR: CursorKind<RankedPosition> = { mint: mintRankedCursor, read: readRankedCursor };

/** The list that a cursor is bound to: one of another list, wallet or deployment is refused. */
export interface CursorBinding {
  readonly keys: CursorKeys;
  readonly scope: string;
}

/** Where a list continues. Throws `invalid_parameter` for a text that is not a cursor of this list. */
export function readBefore<At>(
  kind: CursorKind<At>,
  { keys, scope }: CursorBinding,
  before: string | undefined,
): At | undefined {
  if (before === undefined) return undefined;
  const position = kind.read(keys, scope, before);
  if (position !== undefined) return position;
  throw fail('invalid_parameter', {
    parameter: 'before',
    detail:
      'before is not a cursor of this list: it is altered, cut short, or from another list or deployment.',
  });
}

/** The cursor of the next page; null at the end of the list. */
export function nextBefore<At>(
  kind: CursorKind<At>,
  { keys, scope }: CursorBinding,
  position: At | undefined,
): string | null {
  return position === undefined ? null : kind.mint(keys, scope, position);
}
