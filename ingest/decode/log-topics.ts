import type { Hash } from '../../core/domain/settlement.ts';

/** topic0 values of the events that make a settlement. Source: protocol.md 2.1 (computed with viem, proved on Circle's bytecode). */
export const TOPIC = {
  /** Transfer(address indexed,address indexed,uint256); an ERC-721 Transfer has four topics. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** EIP-3009 AuthorizationUsed(address indexed authorizer,bytes32 indexed nonce), empty data. */
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  /** x402 Permit2 proxies: Settled(). */
  permit2Settled: '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6',
  /** x402 Permit2 proxies: SettledWithPermit(). */
  permit2SettledWithPermit: '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8',
} as const satisfies Record<string, Hash>;
