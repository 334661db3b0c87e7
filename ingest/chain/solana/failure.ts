import { failureOfRpcError, RpcFailure, readRpcError } from '../rpc/failure.ts';

/**
 * Codes by which a node of Solana says that it does not have a block, which another one may have. Source: agave,
 * `rpc-client-api/src/custom_error.rs`. -32007 and -32009 are also said of a slot that was skipped: whether it was is decided by the block
 * after it (slots.ts), never by them.
 */
const ABSENT: ReadonlySet<number> = new Set([
  -32_001, // block cleaned up
  -32_004, // block not available for slot
  -32_007, // slot skipped, or missing due to a jump to a recent snapshot
  -32_009, // slot skipped, or missing in long-term storage
  -32_011, // transaction history not available
  -32_014, // block status not yet available
  -32_016, // minimum context slot has not been reached
]);

/** Sorts a JSON-RPC error of a node of Solana. -32005, a node that is behind, is among those of all families. */
export function failureOfSolanaError(method: string, error: unknown): RpcFailure {
  const failure = failureOfRpcError(method, error);
  return ABSENT.has(readRpcError(error).code) ? new RpcFailure('absent', failure.message) : failure;
}
