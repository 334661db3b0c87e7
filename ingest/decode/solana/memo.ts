import { base58 } from '@scure/base';
import { MEMO_PROGRAM } from '../../../core/domain/solana-programs.ts';
import type { Instruction } from '../../chain/solana/block.ts';

/** As much of a note as is kept. What an unsigned memo can have within the units of one instruction (documentation of SPL Memo). */
export const MEMO_MAX_BYTES = 566;
/** A packet has 1,232 bytes, so no instruction of a message has more. */
const DATA_MAX_CHARS = 1_700;

/** The notes of a message, a line each; '' without one. A longer text ends in how many bytes it has. */
export function memoOf(instructions: readonly Instruction[]): string {
  const notes = instructions.filter(({ program }) => program === MEMO_PROGRAM);
  const text = notes.map(({ data }) => textOf(data)).join('\n');
  const bytes = Buffer.from(text);
  if (bytes.length <= MEMO_MAX_BYTES) return text;
  const ending = `… (${bytes.length} bytes)`;
  const room = bytes.subarray(0, MEMO_MAX_BYTES - Buffer.byteLength(ending));
  // `stream`: a character that is cut is left out.
  return `${new TextDecoder().decode(room, { stream: true })}${ending}`;
}

/** The program refuses a note that is not UTF-8. */
function textOf(data: string): string {
  return data.length > DATA_MAX_CHARS ? '…' : Buffer.from(base58.decode(data)).toString('utf8');
}
