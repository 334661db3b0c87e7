import { type Address, address } from '../../core/domain/address.ts';

/**
 * Contracts that hold money of a payer before anybody is paid: the channels of the `batch-settlement` scheme and the escrows of
 * the `auth-capture` scheme, with the collectors that pull a payer's money into them. A transfer to one of them is a deposit;
 * what is paid out of it later, and to whom, only the contract's own events tell.
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
