import { type Address, address } from '@solana/kit';

/** Programs and mints of Solana that the local chain and its readers know. */

export const SYSTEM_PROGRAM = address('11111111111111111111111111111111');
export const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const LOOKUP_TABLE_PROGRAM = address('AddressLookupTab1e1111111111111111111111111');
/** Squads Smart Account, one of those whose payments a facilitator of @x402/svm 2.27.0 lets pass. */
export const SMART_WALLET_PROGRAM = address('SMRTzfY6DfH5ik3TKiyLFfXexV8uSG3d2UksSCYdunG');

export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM, TOKEN_2022_PROGRAM]);

/** A network that the local chain can play: its genesis hash, whose first 32 characters are its CAIP-2 reference, and its USDC. */
export interface SolanaNetwork {
  readonly name: 'mainnet' | 'devnet';
  readonly genesisHash: string;
  readonly usdc: Address;
  /** Other dollars, mints of Token-2022: USDG and PYUSD. */
  readonly otherDollars: readonly Address[];
}

/** Source: getGenesisHash of the networks, and the mints of @x402/svm 2.27.0. */
export const SOLANA_MAINNET: SolanaNetwork = {
  name: 'mainnet',
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  usdc: address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  otherDollars: [
    address('2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH'),
    address('2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo'),
  ],
};

export const SOLANA_DEVNET: SolanaNetwork = {
  name: 'devnet',
  genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  usdc: address('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
  otherDollars: [
    address('4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7'),
    address('CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM'),
  ],
};

const REFERENCE_CHARS = 32;

/** The chain as CAIP-2 names it. */
export function caip2Of({ genesisHash }: SolanaNetwork): `solana:${string}` {
  return `solana:${genesisHash.slice(0, REFERENCE_CHARS)}`;
}
