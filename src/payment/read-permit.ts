import { type Address, toChecksum } from '../../core/domain/address.ts';
import { ADDRESS, DECIMAL, fieldReader, innerOf } from './signed-fields.ts';

/**
 * A Permit2 `PermitWitnessTransferFrom` of the scheme `upto`, as signed. Addresses in lower case: their bytes are signed, not
 * their spelling. Source: protocol.md 1.8 (scheme_upto_evm.md).
 */
export interface PermitAuthorization {
  readonly from: Address;
  readonly token: Address;
  /** The ceiling, atomic units. */
  readonly amount: bigint;
  readonly spender: Address;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
  /** The witness: who is paid, who alone may settle, from when on (Unix seconds). */
  readonly to: Address;
  readonly facilitator: Address;
  readonly validAfter: bigint;
}

const UINT256_END = 2n ** 256n;

/** Never throws. The problem repeats nothing of what was read. */
export function readPermit(raw: unknown): PermitAuthorization | { readonly problem: string } {
  const addresses = {
    from: addressIn(raw, 'from'),
    token: addressIn(innerOf(raw, 'permitted'), 'token'),
    spender: addressIn(raw, 'spender'),
    to: addressIn(innerOf(raw, 'witness'), 'to'),
    facilitator: addressIn(innerOf(raw, 'witness'), 'facilitator'),
  };
  const integers = {
    amount: integerIn(innerOf(raw, 'permitted'), 'amount'),
    nonce: integerIn(raw, 'nonce'),
    deadline: integerIn(raw, 'deadline'),
    validAfter: integerIn(innerOf(raw, 'witness'), 'validAfter'),
  };
  if (!isWhole(addresses))
    return {
      problem:
        '`payload.permit2Authorization` is missing, or one of its addresses (`from`, `permitted.token`, `spender`, `witness.to`, `witness.facilitator`) is none.',
    };
  if (!isWhole(integers))
    return {
      problem:
        '`permitted.amount`, `nonce`, `deadline` or `witness.validAfter` of the Permit2 authorization is not a uint256 as decimal text.',
    };
  return { ...addresses, ...integers };
}

function addressIn(raw: unknown, key: string): Address | undefined {
  return fieldReader(raw)?.(key, ADDRESS)?.toLowerCase() as Address | undefined; // 40 hex digits by its shape
}

function integerIn(raw: unknown, key: string): bigint | undefined {
  const text = fieldReader(raw)?.(key, DECIMAL);
  const value = text === undefined ? undefined : BigInt(text);
  return value === undefined || value >= UINT256_END ? undefined : value;
}

function isWhole<Fields extends object>(
  fields: Fields,
): fields is { [Key in keyof Fields]: NonNullable<Fields[Key]> } & Fields {
  return Object.values(fields).every((value) => value !== undefined);
}

/** `payload.permit2Authorization` as facilitators take it. */
export function permitPayload(permit: PermitAuthorization): Readonly<Record<string, unknown>> {
  const { from, token, amount, spender, nonce, deadline, to, facilitator, validAfter } = permit;
  return {
    from: toChecksum(from),
    permitted: { token: toChecksum(token), amount: String(amount) },
    spender: toChecksum(spender),
    nonce: String(nonce),
    deadline: String(deadline),
    witness: {
      to: toChecksum(to),
      facilitator: toChecksum(facilitator),
      validAfter: String(validAfter),
    },
  };
}
