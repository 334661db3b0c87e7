import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { ADDRESS_PATTERN, type Address, address } from '../../core/domain/account.ts';
import { type Chain, chainIdOf, chainOf, isChain } from '../../core/domain/chains.ts';

const FACILITATOR = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' });
const DAY = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
/** Day (UTC) from which the account counts as the facilitator's. */
const FIRST_SEEN = DAY;
/** By this day the facilitator used it no more; no source says since when. What it relayed stays the facilitator's. */
const DEPRECATED_BY = Type.Optional(DAY);

/** The dated relayer table of EVM chains that ships with the program, in the form of its file. */
const RelayersSchema = Type.Object({
  source: Type.String(),
  relayers: Type.Array(
    Type.Object({
      facilitator: FACILITATOR,
      chain_id: Type.Integer({ minimum: 1 }),
      address: Type.String({ pattern: ADDRESS_PATTERN }),
      first_seen: FIRST_SEEN,
      deprecated_by: DEPRECATED_BY,
    }),
  ),
});

/** That of the accounts which pay fees on Solana. */
const FeePayersSchema = Type.Object({
  source: Type.String(),
  fee_payers: Type.Array(
    Type.Object({
      facilitator: FACILITATOR,
      chain: Type.String(),
      address: Type.String(),
      first_seen: FIRST_SEEN,
      deprecated_by: DEPRECATED_BY,
    }),
  ),
});

/** An account from which a facilitator sends payments. */
export interface BuiltInRelayer {
  readonly facilitator: string;
  readonly chain: Chain;
  readonly address: Address;
  /** `YYYY-MM-DD`. */
  readonly firstSeen: string;
}

/** Reads the tables in this folder. Read as files and not imported: Node 20 and 22 print a warning for every JSON import. */
export function readBuiltInRelayers(): readonly BuiltInRelayer[] {
  const { relayers } = Value.Parse(RelayersSchema, readTable('facilitator-relayers.json'));
  const { fee_payers: feePayers } = Value.Parse(FeePayersSchema, readTable('facilitator-fee-payers.json'));
  return [...relayers.map((one) => ({ ...one, chain: chainOf(one.chain_id) })), ...feePayers].map(
    ({ facilitator, chain, address: at, first_seen: firstSeen }) => {
      if (!isChain(chain)) throw new Error(`not a chain: ${chain}`);
      return { facilitator, chain, address: address(at), firstSeen };
    },
  );
}

function readTable(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./${name}`, import.meta.url), 'utf8'));
}

/** ERC-8021 facilitator codes seen on settlements of known relayers (four Coinbase settlements). */
export const BUILT_IN_BUILDER_CODES: Readonly<Record<string, string>> = { cdp_facil1: 'coinbase' };

/** Contracts that exist for x402 only. Sources: @x402/evm 2.27.0, and networks.ts of x402-exec. */

interface Permit2Proxy {
  readonly address: Address;
  readonly scheme: 'exact-permit2' | 'upto';
}

/** Deployed by CREATE2 at the same place on every chain: x402ExactPermit2Proxy and x402UptoPermit2Proxy. */
const PERMIT2_PROXIES: readonly Permit2Proxy[] = [
  { address: address('0x402085c248EeA27D92E8b30b2C58ed07f9E20001'), scheme: 'exact-permit2' },
  { address: address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'), scheme: 'upto' },
];

/** Earlier deployments of both, which only Base Sepolia carries. Source: earlier versions of @x402/evm (2.3, 2.9 to 2.11). */
const OLDER_PERMIT2_PROXIES: readonly Permit2Proxy[] = [
  { address: address('0x4020615294c913F045dc10f0a5cdEbd86c280001'), scheme: 'exact-permit2' },
  { address: address('0x402039b3d6E6BEC5A02c2C9fd937ac17A6940002'), scheme: 'upto' },
  { address: address('0x4020633461b2895a48930Ff97eE8fCdE8E520002'), scheme: 'upto' },
];
const CHAIN_OF_OLDER_PROXIES = 84_532;

const SETTLEMENT_ROUTERS: ReadonlyMap<number, readonly Address[]> = new Map([
  [8453, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [84532, [address('0x817e4f0ee2fbdaac426f1178e149f7dc98873ecb')]],
  [196, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [56, [address('0x1Ae0E196dC18355aF3a19985faf67354213F833D')]],
]);

const UPTO_PROXIES: ReadonlySet<Address> = new Set(
  [...PERMIT2_PROXIES, ...OLDER_PERMIT2_PROXIES]
    .filter(({ scheme }) => scheme === 'upto')
    .map((proxy) => proxy.address),
);

/** Whether a proxy settles `upto`; the others settle `exact`. Their events are the same. */
export function isUptoProxy(proxy: Address): boolean {
  return UPTO_PROXIES.has(proxy);
}

export function permit2ProxiesOf(chain: Chain): readonly Address[] {
  const older = chainIdOf(chain) === CHAIN_OF_OLDER_PROXIES ? OLDER_PERMIT2_PROXIES : [];
  return [...PERMIT2_PROXIES, ...older].map((proxy) => proxy.address);
}

export function settlementRoutersOf(chain: Chain): readonly Address[] {
  return SETTLEMENT_ROUTERS.get(chainIdOf(chain)) ?? [];
}
