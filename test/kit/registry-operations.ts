import fc from 'fast-check';
import { keccak256, stringToHex } from 'viem';
import type { Address, Hash } from '../../core/domain/account.ts';
import {
  callAppendResponse,
  callApproveAgent,
  callGiveFeedback,
  callRegister,
  callRegisterAndPass,
  callRevokeFeedback,
  callSetAgentUri,
  callSetAgentWallet,
  callSetMetadata,
  callTransferAgent,
  callUnsetAgentWallet,
  callValidationRequest,
  callValidationResponse,
  toIdentity,
  toReputation,
  toValidation,
} from '../../demo/chain/registries.ts';
import { type Transaction, type Wallet, walletOf } from '../../demo/chain/sender.ts';

/** Random use of the ERC-8004 registries: operations as data, so that fast-check can shrink them, and what they send. */

/** Few, so that they meet: owners rate each other, sell to each other and share wallets. */
export const PEOPLE: readonly Wallet[] = Array.from({ length: 5 }, (_, k) =>
  walletOf(`registry person ${k}`),
);
/** A contract that passes agents on from within the mint (installHastyOwner). */
export const HASTY_OWNER = walletOf('registry person in haste').address;

/** Numbers that name a person or an agent are taken modulo what exists when the operation runs. */
export type RegistryOperation =
  | {
      readonly kind: 'register';
      readonly by: number;
      readonly uri: string | null;
      readonly metadata: boolean;
    }
  | { readonly kind: 'registerAndPass'; readonly uri: string }
  | { readonly kind: 'setUri'; readonly agent: number; readonly uri: string }
  | { readonly kind: 'setMetadata'; readonly agent: number; readonly key: string }
  | { readonly kind: 'setWallet'; readonly agent: number; readonly wallet: number }
  | { readonly kind: 'unsetWallet'; readonly agent: number }
  | { readonly kind: 'transfer'; readonly agent: number; readonly to: number }
  | { readonly kind: 'approve'; readonly agent: number; readonly to: number }
  | {
      readonly kind: 'rate';
      readonly agent: number;
      readonly by: number;
      readonly value: bigint;
      readonly decimals: number;
      readonly tag: string;
      readonly uri: string;
    }
  | { readonly kind: 'revoke'; readonly agent: number; readonly by: number; readonly index: number }
  | {
      readonly kind: 'respond';
      readonly agent: number;
      readonly by: number;
      readonly to: number;
      readonly index: number;
    }
  | { readonly kind: 'askValidation'; readonly agent: number; readonly request: number }
  | {
      readonly kind: 'answerValidation';
      readonly request: number;
      readonly byStranger: boolean;
      readonly value: number;
    };

const number = fc.nat({ max: 1_000 });
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', 'starred', 'тег', '\u0000\u202e', '🤖'),
);
const uri = fc.oneof(
  text,
  fc.constantFrom('data:application/json,{}', 'ipfs://bafy', 'https://a.example/c.json'),
);
const value = fc.oneof(
  fc.bigInt(-500n, 500n),
  fc.constantFrom(10n ** 38n, -(10n ** 38n), 10n ** 38n - 1n, 0n),
);
const decimals = fc.oneof(fc.constantFrom(0, 2), fc.nat({ max: 18 }));

const of = <Kind extends RegistryOperation['kind']>(
  kind: Kind,
  fields: {
    [Field in keyof Omit<Extract<RegistryOperation, { kind: Kind }>, 'kind'>]: fc.Arbitrary<
      Extract<RegistryOperation, { kind: Kind }>[Field]
    >;
  },
): fc.Arbitrary<RegistryOperation> =>
  fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<RegistryOperation>; // a record of its own kind

/** One operation. Some will be refused by the contracts (a stranger's revocation, self-feedback); they mine no logs. */
export const registryOperation: fc.Arbitrary<RegistryOperation> = fc.oneof(
  { weight: 5, arbitrary: of('register', { by: number, uri: fc.option(uri), metadata: fc.boolean() }) },
  { weight: 1, arbitrary: of('registerAndPass', { uri }) },
  { weight: 3, arbitrary: of('setUri', { agent: number, uri }) },
  { weight: 1, arbitrary: of('setMetadata', { agent: number, key: text }) },
  { weight: 3, arbitrary: of('setWallet', { agent: number, wallet: number }) },
  { weight: 2, arbitrary: of('unsetWallet', { agent: number }) },
  { weight: 3, arbitrary: of('transfer', { agent: number, to: number }) },
  { weight: 1, arbitrary: of('approve', { agent: number, to: number }) },
  { weight: 12, arbitrary: of('rate', { agent: number, by: number, value, decimals, tag: text, uri }) },
  { weight: 4, arbitrary: of('revoke', { agent: number, by: number, index: number }) },
  { weight: 3, arbitrary: of('respond', { agent: number, by: number, to: number, index: number }) },
  { weight: 2, arbitrary: of('askValidation', { agent: number, request: number }) },
  {
    weight: 2,
    arbitrary: of('answerValidation', {
      request: number,
      byStranger: fc.boolean(),
      value: fc.nat({ max: 100 }),
    }),
  },
);

/** What an operation needs to know of the chain as it stands. */
export interface RegistryMoment {
  readonly chainId: number;
  /** Unix seconds of the newest block. */
  readonly time: number;
  /** Owners by agent id; ids run from 0. */
  readonly owners: readonly Address[];
}

/** Few values, so that one operation means the things that another one made. */
const FAMOUS_AGENTS = 5;
const INDICES = 2;
const REQUESTS = 16;
/** Below the five minutes that the contract allows, with room for the block that is mined next. */
const CONSENT_SECONDS = 200;

const personOf = (index: number): Wallet => PEOPLE[index % PEOPLE.length] ?? walletOf('unknown');
/** The same person for the same request, so that answers are possible. */
const validatorOf = (request: number): Address => personOf(request % REQUESTS).address;
const requestOf = (index: number): Hash => keccak256(stringToHex(`request ${index % REQUESTS}`));

/** The transaction that an operation is right now; null when it is about an agent and there is none. */
export async function transactionOf(
  operation: RegistryOperation,
  moment: RegistryMoment,
): Promise<Transaction | null> {
  switch (operation.kind) {
    case 'register': {
      const metadata = operation.metadata ? { metadata: { colour: { text: 'blue' } } } : {};
      const named = operation.uri === null ? {} : { uri: operation.uri };
      return toIdentity(personOf(operation.by).address, callRegister({ ...named, ...metadata }));
    }
    case 'registerAndPass':
      return { ...toIdentity(personOf(0).address, callRegisterAndPass(operation.uri)), to: HASTY_OWNER };
    case 'answerValidation': {
      const requestHash = requestOf(operation.request);
      const data = callValidationResponse({ requestHash, response: operation.value, tag: 'random' });
      return toValidation(validatorOf(operation.request + (operation.byStranger ? 1 : 0)), data);
    }
    default:
      return aboutAgent(operation, moment);
  }
}

type AboutAgent = Extract<RegistryOperation, { readonly agent: number }>;

async function aboutAgent(operation: AboutAgent, moment: RegistryMoment): Promise<Transaction | null> {
  const { owners } = moment;
  if (owners.length === 0) return null;
  const id = operation.agent % Math.min(owners.length, FAMOUS_AGENTS);
  const owner = owners[id] ?? HASTY_OWNER;
  const agentId = BigInt(id);
  switch (operation.kind) {
    case 'setUri':
      return toIdentity(owner, callSetAgentUri(agentId, operation.uri));
    case 'setMetadata':
      return toIdentity(owner, callSetMetadata(agentId, operation.key, '0x00ff'));
    case 'setWallet': {
      const wallet = personOf(operation.wallet);
      const deadline = moment.time + CONSENT_SECONDS;
      const consent = { agentId, wallet, owner, deadline, chainId: moment.chainId };
      return toIdentity(owner, await callSetAgentWallet(consent));
    }
    case 'unsetWallet':
      return toIdentity(owner, callUnsetAgentWallet(agentId));
    case 'transfer':
      return toIdentity(
        owner,
        callTransferAgent({ agentId, from: owner, to: personOf(operation.to).address }),
      );
    case 'approve':
      return toIdentity(owner, callApproveAgent(personOf(operation.to).address, agentId));
    case 'askValidation': {
      const validator = validatorOf(operation.request);
      const requestHash = requestOf(operation.request);
      return toValidation(owner, callValidationRequest({ validator, agentId, uri: 'ipfs://w', requestHash }));
    }
    case 'rate':
    case 'revoke':
    case 'respond':
      return aboutFeedback(operation, agentId);
  }
}

type AboutFeedback = Extract<RegistryOperation, { readonly kind: 'rate' | 'revoke' | 'respond' }>;

function aboutFeedback(operation: AboutFeedback, agentId: bigint): Transaction {
  const from = personOf(operation.by).address;
  if (operation.kind === 'rate') {
    const { value: given, decimals: valueDecimals, tag, uri: file } = operation;
    const feedback = { agentId, value: given, valueDecimals, tag1: tag, tag2: 'random', uri: file };
    return toReputation(from, callGiveFeedback(feedback));
  }
  const feedbackIndex = BigInt(1 + (operation.index % INDICES));
  if (operation.kind === 'revoke') return toReputation(from, callRevokeFeedback(agentId, feedbackIndex));
  const client = personOf(operation.to).address;
  return toReputation(from, callAppendResponse({ agentId, client, feedbackIndex, uri: 'ipfs://answer' }));
}
