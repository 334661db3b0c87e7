import { readFileSync } from 'node:fs';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { ADDRESS_PATTERN, type Address, address } from '../../core/domain/account.ts';
import { type Chain, chainIdOf } from '../../core/domain/chains.ts';
import type { PaymentScheme } from '../../core/domain/settlement.ts';

/** The dated relayer table that ships with the program, in the form of its file. */
const FileSchema = Type.Object({
  source: Type.String(),
  relayers: Type.Array(
    Type.Object({
      facilitator: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
      chain_id: Type.Integer({ minimum: 1 }),
      address: Type.String({ pattern: ADDRESS_PATTERN }),
      first_seen: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    }),
  ),
});

export type BuiltInRelayer = Static<typeof FileSchema>['relayers'][number];

/**
 * Reads the table in this folder. Read as a file and not imported: Node 20 and 22 print a warning for every JSON import.
 */
export function readBuiltInRelayers(): readonly BuiltInRelayer[] {
  const text = readFileSync(new URL('./facilitator-relayers.json', import.meta.url), 'utf8');
  return Value.Parse(FileSchema, JSON.parse(text)).relayers;
}

/** ERC-8021 facilitator codes seen on settlements of known relayers (four Coinbase settlements). */
export const BUILT_IN_BUILDER_CODES: Readonly<Record<string, string>> = { cdp_facil1: 'coinbase' };

/**
 * Contracts that hold a payer's money before a payee is paid: the channels of the `batch-settlement` scheme and the escrows of the
 * `auth-capture` scheme, with the collectors that pull a payer's money into them. A transfer to one of them is a deposit; only the
 * contract's own events show later payouts.
 *
 * All are deployed by CREATE2 with the same address on every chain, so an entry holds for all of them.
 */
export interface DepositContract {
  readonly address: Address;
  readonly name: string;
  /** Day (UTC, `YYYY-MM-DD`) on which the entry was added to this table. */
  readonly listedOn: string;
}

/** Sources: @x402/evm 2.27.0 (batch-settlement, auth-capture), and the README of base/commerce-payments for escrow 1.0. */
export const DEPOSIT_CONTRACTS: readonly DepositContract[] = [
  listed('0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003', 'batch-settlement: x402BatchSettlement'),
  listed('0x4020806089470a89826cB9fB1f4059150b550004', 'batch-settlement: ERC3009DepositCollector'),
  listed('0x4020425FAf3B746C082C2f942b4E5159887B0005', 'batch-settlement: Permit2DepositCollector'),
  listed('0xf96815976523E00e65Be8f34cA5e64b4f41EB19c', 'auth-capture 1.1: AuthCaptureEscrow'),
  listed('0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88', 'auth-capture 1.1: ERC3009PaymentCollector'),
  listed('0xD69831Aed5bfe262067ec4c751f4F830EcdD446e', 'auth-capture 1.1: Permit2PaymentCollector'),
  listed('0x7a03443724d14798c4AB4622F1DAAcA761Fea486', 'auth-capture 1.1: OperatorRefundCollector'),
  listed('0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff', 'auth-capture 1.0: AuthCaptureEscrow'),
  listed('0x0E3dF9510de65469C4518D7843919c0b8C7A7757', 'auth-capture 1.0: ERC3009PaymentCollector'),
  listed('0x992476B9Ee81d52a5BdA0622C333938D0Af0aB26', 'auth-capture 1.0: Permit2PaymentCollector'),
  listed('0x1b77ABd71FCD21fbe2398AE821Aa27D1E6B94bC6', 'auth-capture 1.0: PreApprovalPaymentCollector'),
  listed('0x8d9F34934dc9619e5DC3Df27D0A40b4A744E7eAa', 'auth-capture 1.0: SpendPermissionPaymentCollector'),
  listed('0x934907bffd0901b6A21e398B9C53A4A38F02fa5d', 'auth-capture 1.0: OperatorRefundCollector'),
];

function listed(at: string, name: string, listedOn = '2026-11-24'): DepositContract {
  return { address: address(at), name, listedOn };
}

const SCHEME_OF_DEPOSIT: ReadonlyMap<Address, PaymentScheme> = new Map(
  DEPOSIT_CONTRACTS.map(({ address, name }) => [
    address,
    name.startsWith('batch-settlement') ? 'batch-settlement' : 'auth-capture',
  ]),
);

/** The scheme that a contract of `DEPOSIT_CONTRACTS` collects deposits for. */
export function schemeOfDeposit(payee: Address): PaymentScheme | undefined {
  return SCHEME_OF_DEPOSIT.get(payee);
}

/** Contracts that exist for x402 only. Sources: @x402/evm 2.27.0, and networks.ts of x402-exec. */

/** Deployed by CREATE2 at the same place on every chain. */
const PERMIT2_PROXIES = [
  address('0x402085c248EeA27D92E8b30b2C58ed07f9E20001'), // x402ExactPermit2Proxy
  address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'), // x402UptoPermit2Proxy
];

/** Base Sepolia also carries the first deployment of the upto proxy. */
const OLDER_PERMIT2_PROXIES: ReadonlyMap<number, readonly Address[]> = new Map([
  [84532, [address('0x402039b3d6E6BEC5A02c2C9fd937ac17A6940002')]],
]);

const SETTLEMENT_ROUTERS: ReadonlyMap<number, readonly Address[]> = new Map([
  [8453, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [84532, [address('0x817e4f0ee2fbdaac426f1178e149f7dc98873ecb')]],
  [196, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [56, [address('0x1Ae0E196dC18355aF3a19985faf67354213F833D')]],
]);

/** The other proxies settle `exact`. */
const UPTO_PROXIES: ReadonlySet<string> = new Set([
  PERMIT2_PROXIES[1],
  ...[...OLDER_PERMIT2_PROXIES.values()].flat(),
]);

export function isUptoProxy(proxy: Address): boolean {
  return UPTO_PROXIES.has(proxy);
}

export function permit2ProxiesOf(chain: Chain): readonly Address[] {
  return [...PERMIT2_PROXIES, ...(OLDER_PERMIT2_PROXIES.get(chainIdOf(chain)) ?? [])];
}

export function settlementRoutersOf(chain: Chain): readonly Address[] {
  return SETTLEMENT_ROUTERS.get(chainIdOf(chain)) ?? [];
}
