import { Type } from '@sinclair/typebox';
import {
  ADDRESS_INPUT_PATTERN,
  type Address,
  faultOf,
  isAddress,
  isTransactionId,
  NAMESPACES,
  type Namespace,
  namespaceOfText,
  readAddress,
  readTransactionId,
  TRANSACTION_INPUT_PATTERN,
  type TransactionId,
} from '../../core/domain/account.ts';
import { type Chain, namespaceOf } from '../../core/domain/chains.ts';
import { invalid, type ParamFacts, quoted } from './params.ts';

/** How parameters read addresses and transactions: of the chains that are indexed, and with what is wrong with a text that is none. */

export const ADDRESS_SCHEMA = Type.String({ pattern: ADDRESS_INPUT_PATTERN });
export const TRANSACTION_SCHEMA = Type.String({ pattern: TRANSACTION_INPUT_PATTERN });

type Spellings = Readonly<Record<Namespace, string>>;

interface Wanted {
  readonly kind: 'address' | 'transaction';
  readonly what: string;
  readonly spelled: Spellings;
}

const ADDRESS: Wanted = {
  kind: 'address',
  what: 'an address',
  spelled: { eip155: '0x and 40 hex digits', solana: 'base58 of 32 bytes' },
};

const TRANSACTION: Wanted = {
  kind: 'transaction',
  what: 'the hash of a transaction',
  spelled: { eip155: '0x and 64 hex digits', solana: 'base58 of 64 bytes' },
};

const CHAIN_KINDS: Spellings = { eip155: 'EVM', solana: 'Solana' };

/** Hex in any case, as lower case; base58 as it is. */
export function readAddressParam(raw: unknown, name: string, { chains }: ParamFacts): Address {
  const served = servedNamespaces(chains);
  const outcome = readAddress(raw);
  if (isAddress(outcome) && served.includes(namespaceOfText(outcome))) return outcome;
  if (outcome === 'checksum')
    throw invalid(
      name,
      `${name} has a wrong EIP-55 checksum: most likely a typing error. Send it in lower case to skip the check.`,
    );
  throw refusal(raw, name, { ...ADDRESS, served, isOther: isAddress(outcome) });
}

/** A hash in any case, as lower case; a signature as it is. */
export function readTransactionParam(raw: unknown, name: string, { chains }: ParamFacts): TransactionId {
  const served = servedNamespaces(chains);
  const outcome = readTransactionId(raw);
  if (isTransactionId(outcome) && served.includes(namespaceOfText(outcome))) return outcome;
  throw refusal(raw, name, { ...TRANSACTION, served, isOther: isTransactionId(outcome) });
}

/** EVM where no chain is configured. */
function servedNamespaces(chains: readonly Chain[]): readonly Namespace[] {
  const served = NAMESPACES.filter((one) => chains.some((chain) => namespaceOf(chain) === one));
  return served.length === 0 ? ['eip155'] : served;
}

/** Says what is taken; of a text that begins like it, what is wrong; and of one that is right elsewhere, where. */
function refusal(
  raw: unknown,
  name: string,
  {
    kind,
    what,
    spelled,
    served,
    isOther,
  }: Wanted & { readonly served: readonly Namespace[]; readonly isOther: boolean },
): Error {
  const taken = served.map((one) => spelled[one]).join(', or ');
  const refused = `${name} must be ${what}: ${taken}, not ${quoted(raw)}.`;
  if (typeof raw !== 'string') return invalid(name, refused);
  const own = namespaceOfText(raw);
  if (isOther)
    return invalid(name, `${refused} It is one of ${CHAIN_KINDS[own]}, of which no chain is indexed here.`);
  return invalid(name, served.includes(own) && raw !== '' ? `${refused} ${faultOf(raw, kind)}` : refused);
}
