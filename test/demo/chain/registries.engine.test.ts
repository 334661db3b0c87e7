import { type Hex, keccak256, stringToHex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Address, address, type Hash } from '../../../core/domain/account.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/anvil.ts';
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
  callSetOperator,
  callTransferAgent,
  callUnsetAgentWallet,
  callValidationRequest,
  callValidationResponse,
  installHastyOwner,
  TESTNET_REGISTRIES,
  toIdentity,
  toReputation,
  toValidation,
} from '../../../demo/chain/registries.ts';
import { createRegistryViews, type RegistryViews } from '../../../demo/chain/registry-views.ts';
import { mine, type Transaction, walletOf } from '../../../demo/chain/sender.ts';
import { type ReceiptLog, readReceipts } from '../../kit/oracle/receipts.ts';

/** Of ERC-8004, literally: an indexer of the deployed registries goes by these and nothing else. */
const TOPIC = {
  Registered: '0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a',
  URIUpdated: '0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb',
  MetadataSet: '0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b',
  Transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  MetadataUpdate: '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7',
  ApprovalForAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  NewFeedback: '0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc',
  FeedbackRevoked: '0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d',
  ResponseAppended: '0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4',
  ValidationRequest: '0x530436c3634a98e1e626b0898be2f1e9980cc1bd2a78c07a0aba52d0a48a5059',
  ValidationResponse: '0xafddf629e874ccc3963b6a888c477bd464a6c8525024fc88759ea3b2326349ae',
} as const;
const AGENT_WALLET_KEY = '0x2ac6109326e720d1435c0db66f7e35eda7839f52b6f1f5520a60788e132b4e39';
const ZERO = address(`0x${'0'.repeat(40)}`);

const owner = walletOf('registries: owner').address;
const buyer = walletOf('registries: buyer').address;
const client = walletOf('registries: client').address;
const validator = walletOf('registries: validator').address;

let chain: DemoChain;
let views: RegistryViews;

beforeAll(async () => {
  chain = await startDemoChain();
  views = createRegistryViews(chain.url);
});
afterAll(() => chain?.stop());

/** Mines one block with it and answers its logs; throws when it was refused. */
async function done(transaction: Transaction): Promise<readonly ReceiptLog[]> {
  const receipt = await mined(transaction);
  expect(receipt?.status).toBe('0x1');
  return receipt?.logs ?? [];
}

async function mined(transaction: Transaction) {
  await chain.sender.send(transaction);
  await mine(chain.rpc);
  const head = Number(await chain.rpc.call<string>('eth_blockNumber'));
  return (await readReceipts(chain.rpc, head, head))[0];
}

/** The reason of a refusal, asked for without mining. */
async function refusal({ from, to, data }: Transaction): Promise<string> {
  return chain.rpc.call('eth_call', { from, to, data }, 'latest').then(
    () => 'not refused',
    (error: unknown) => String(error),
  );
}

const names = (logs: readonly ReceiptLog[]) =>
  logs.map(({ topics }) => Object.entries(TOPIC).find(([, topic]) => topic === topics[0])?.[0]);

const agentOf = (logs: readonly ReceiptLog[]): bigint =>
  BigInt(logs.find(({ topics }) => topics[0] === TOPIC.Registered)?.topics[1] ?? -1);

const registered = async (uri = 'ipfs://card', by: Address = owner): Promise<bigint> =>
  agentOf(await done(toIdentity(by, callRegister({ uri }))));

const consentOf = async (agentId: bigint, label: string) => {
  const head = await chain.rpc.call<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
  const wallet = walletOf(label);
  const deadline = Number(head.timestamp) + 250;
  return {
    wallet: wallet.address,
    data: await callSetAgentWallet({ agentId, wallet, owner, deadline, chainId: chain.chainId }),
  };
};

test('a registration mines the documented events in the documented order, and ids start at 0', async () => {
  const bare = await done(toIdentity(owner, callRegister()));
  expect(agentOf(bare)).toBe(0n);
  expect(names(bare)).toEqual(['Transfer', 'Registered', 'MetadataSet']);
  expect(await views.agent(0n)).toEqual({ agentId: 0n, owner, wallet: owner, uri: '' });

  const logs = await done(
    toIdentity(owner, callRegister({ uri: 'ipfs://x', metadata: { a: '0x01', b: { text: 'two' } } })),
  );
  expect(agentOf(logs)).toBe(1n);
  expect(names(logs)).toEqual([
    'Transfer',
    'MetadataUpdate',
    'Registered',
    'MetadataSet',
    'MetadataSet',
    'MetadataSet',
  ]);
  expect(logs[0]?.topics).toHaveLength(4);
  expect(logs[3]?.topics[2]).toBe(AGENT_WALLET_KEY);
  expect(logs[4]?.topics[2]).toBe(keccak256(stringToHex('a')));
  expect(await views.agent(1n)).toEqual({ agentId: 1n, owner, wallet: owner, uri: 'ipfs://x' });
  expect([await views.metadata(1n, 'b'), await views.metadata(1n, 'never')]).toEqual([
    stringToHex('two'),
    '0x',
  ]);
  expect(await refusal(toIdentity(owner, callSetMetadata(1n, 'agentWallet', '0x01')))).toMatch(
    /reserved key/,
  );
});

test('every call has the selector of the deployed contracts', async () => {
  const { data } = await consentOf(0n, 'anybody');
  const selectors = {
    register: callRegister(),
    registerUri: callRegister({ uri: '' }),
    registerMetadata: callRegister({ metadata: {} }),
    setAgentURI: callSetAgentUri(0n, ''),
    setMetadata: callSetMetadata(0n, '', '0x'),
    setAgentWallet: data,
    unsetAgentWallet: callUnsetAgentWallet(0n),
    giveFeedback: callGiveFeedback({ agentId: 0n, value: 0n }),
    revokeFeedback: callRevokeFeedback(0n, 1n),
    appendResponse: callAppendResponse({ agentId: 0n, client, feedbackIndex: 1n, uri: '' }),
    validationRequest: callValidationRequest({ validator, agentId: 0n, uri: '', requestHash: hash('r') }),
    validationResponse: callValidationResponse({ requestHash: hash('r'), response: 0 }),
  };
  expect(
    Object.fromEntries(Object.entries(selectors).map(([name, call]) => [name, call.slice(0, 10)])),
  ).toEqual({
    register: '0x1aa3a008',
    registerUri: '0xf2c298be',
    registerMetadata: '0x8ea42286',
    setAgentURI: '0x0af28bd3',
    setMetadata: '0x466648da',
    setAgentWallet: '0x2d1ef5ae',
    unsetAgentWallet: '0x3fddcf19',
    giveFeedback: '0x3c036a7e',
    revokeFeedback: '0x4ab3ca99',
    appendResponse: '0xc2349ab2',
    validationRequest: '0xaaf400c4',
    validationResponse: '0x3d659a96',
  });
});

test('every view has the selector of the deployed contracts', async () => {
  const code = await Promise.all(
    Object.values(TESTNET_REGISTRIES).map((at) => chain.rpc.call<Hex>('eth_getCode', at, 'latest')),
  );
  const selectors = {
    getMetadata: '0xcb4799f2',
    getAgentWallet: '0x00339509',
    tokenURI: '0xc87b56dd',
    ownerOf: '0x6352211e',
    getSummary: '0x81bbba58',
    readFeedback: '0x232b0810',
    readAllFeedback: '0xd9d84224',
    getClients: '0x42dd519c',
    getLastIndex: '0xf2d81759',
    getValidationStatus: '0xff2febfc',
  };
  // The compiler leaves out leading zeros of what it compares with.
  for (const selector of Object.values(selectors))
    expect(code.join(), selector).toContain(selector.slice(2).replace(/^0+/, ''));
  expect(toFunctionSelector('getAgentWallet(uint256)')).toBe(selectors.getAgentWallet);
});

test('a new URI is announced and kept', async () => {
  const agentId = await registered();
  expect(names(await done(toIdentity(owner, callSetAgentUri(agentId, 'data:,{}'))))).toEqual([
    'MetadataUpdate',
    'URIUpdated',
  ]);
  expect((await views.agent(agentId)).uri).toBe('data:,{}');
  expect(await refusal(toIdentity(buyer, callSetAgentUri(agentId, 'mine')))).toMatch(/Not authorized/);
});

test('a wallet is set with its own signature only, and cleared by its owner', async () => {
  const agentId = await registered();
  const { wallet, data } = await consentOf(agentId, 'registries: new wallet');
  expect(await refusal(toIdentity(buyer, data))).toMatch(/Not authorized/);
  const forged = await callSetAgentWallet({
    agentId,
    wallet: { ...walletOf('registries: forger'), address: wallet },
    owner,
    deadline: 2 ** 40,
    chainId: chain.chainId,
  });
  expect(await refusal(toIdentity(owner, forged))).toMatch(/deadline too far/);
  const other = await consentOf(agentId, 'registries: other wallet');
  const swapped = data.replace(wallet.slice(2), other.wallet.slice(2)) as Hex; // still hexadecimal
  expect(await refusal(toIdentity(owner, swapped))).toMatch(/invalid wallet sig/);

  const logs = await done(toIdentity(owner, data));
  expect([names(logs), logs[0]?.topics[2]]).toEqual([['MetadataSet'], AGENT_WALLET_KEY]);
  expect((await views.agent(agentId)).wallet).toBe(wallet);
  await done(toIdentity(owner, callUnsetAgentWallet(agentId)));
  expect((await views.agent(agentId)).wallet).toBe(ZERO);
});

test('a transfer clears the wallet before it says who owns the agent, even to the same owner', async () => {
  const agentId = await registered();
  const sold = await done(toIdentity(owner, callTransferAgent({ agentId, from: owner, to: buyer })));
  expect(names(sold)).toEqual(['MetadataSet', 'Transfer']);
  expect(sold[0]?.data.endsWith('0'.repeat(64))).toBe(true);
  expect(await views.agent(agentId)).toMatchObject({ owner: buyer, wallet: ZERO });
  expect(await refusal(toIdentity(owner, callTransferAgent({ agentId, from: owner, to: owner })))).toMatch(
    /revert/,
  );

  const kept = await registered();
  await done(toIdentity(owner, callTransferAgent({ agentId: kept, from: owner, to: owner })));
  expect(await views.agent(kept)).toMatchObject({ owner, wallet: ZERO });
});

test('an owner that passes its agent on within the mint owns nothing, though Registered names it last', async () => {
  const hasty = walletOf('registries: hasty').address;
  await installHastyOwner(chain.rpc, hasty);
  const logs = await done({ ...toIdentity(client, callRegisterAndPass('ipfs://passed')), to: hasty });
  expect(names(logs)).toEqual([
    'Transfer',
    'MetadataSet',
    'Transfer',
    'MetadataUpdate',
    'Registered',
    'MetadataSet',
  ]);
  expect(await views.agent(agentOf(logs))).toMatchObject({
    owner: '0x000000000000000000000000000000000000beef',
    wallet: ZERO,
  });
});

const hash = (label: string): Hash => keccak256(stringToHex(label));

test('feedback is counted from 1 per client, and owners and operators cannot give any', async () => {
  const agentId = await registered();
  const rate = (value: bigint, from = client, valueDecimals = 0) =>
    toReputation(from, callGiveFeedback({ agentId, value, valueDecimals, tag1: 'starred', tag2: 'x' }));
  expect(await refusal(rate(5n, owner))).toMatch(/Self-feedback not allowed/);
  expect(await refusal(rate(5n, client, 19))).toMatch(/too many decimals/);
  expect(await refusal(rate(10n ** 38n + 1n))).toMatch(/value too large/);
  expect(await refusal(toReputation(client, callGiveFeedback({ agentId: 10n ** 30n, value: 1n })))).toMatch(
    /revert/,
  );
  await done(toIdentity(owner, callApproveAgent(buyer, agentId)));
  expect(await refusal(rate(5n, buyer))).toMatch(/Self-feedback/);
  expect(names(await done(toIdentity(owner, callSetOperator(validator, true))))).toEqual(['ApprovalForAll']);
  expect(await refusal(rate(5n, validator))).toMatch(/Self-feedback/);
  await done(toIdentity(owner, callSetOperator(validator, false)));

  const [first] = await done(rate(5n));
  expect([first?.topics[0], first?.topics[3]]).toEqual([TOPIC.NewFeedback, hash('starred')]);
  await done(rate(-250n, client, 2));
  await done(rate(10n ** 38n, validator, 18));
  expect(await views.clients(agentId)).toEqual([client, validator]);
  expect([await views.lastIndex(agentId, client), await views.lastIndex(agentId, buyer)]).toEqual([2n, 0n]);
  expect(await views.feedback(agentId, client, 2n)).toMatchObject({ value: -250n, valueDecimals: 2 });
  expect(await views.allFeedback(agentId)).toMatchObject([
    { client, feedbackIndex: 1n, value: 5n, tag1: 'starred', tag2: 'x', revoked: false },
    { client, feedbackIndex: 2n },
    { client: validator, feedbackIndex: 1n, value: 10n ** 38n, valueDecimals: 18 },
  ]);
  // (5 - 2.5) / 2 = 1.25, truncated at the decimals that come first among the most used.
  expect(await views.summary(agentId, [client])).toEqual({ count: 2n, value: 1n, valueDecimals: 0 });
});

test('feedback is revoked once, by its author, and anybody may respond to it', async () => {
  const agentId = await registered();
  await done(toReputation(client, callGiveFeedback({ agentId, value: 1n })));
  expect(await refusal(toReputation(client, callRevokeFeedback(agentId, 2n)))).toMatch(/out of bounds/);
  expect(await refusal(toReputation(buyer, callRevokeFeedback(agentId, 1n)))).toMatch(/out of bounds/);
  expect(names(await done(toReputation(client, callRevokeFeedback(agentId, 1n))))).toEqual([
    'FeedbackRevoked',
  ]);
  expect(await refusal(toReputation(client, callRevokeFeedback(agentId, 1n)))).toMatch(/Already revoked/);
  expect(await views.feedback(agentId, client, 1n)).toMatchObject({ revoked: true });
  expect(await views.summary(agentId, [client])).toEqual({ count: 0n, value: 0n, valueDecimals: 0 });

  const respond = (feedbackIndex: bigint, uri: string) =>
    toReputation(owner, callAppendResponse({ agentId, client, feedbackIndex, uri }));
  expect(names(await done(respond(1n, 'ipfs://sorry')))).toEqual(['ResponseAppended']);
  expect(await refusal(respond(1n, ''))).toMatch(/Empty URI/);
  expect(await refusal(respond(2n, 'ipfs://sorry'))).toMatch(/out of bounds/);
});

test('a validation is asked for once and answered by its validator, who may change its mind', async () => {
  const agentId = await registered();
  const requestHash = hash('request');
  const ask = (from: Address) =>
    toValidation(from, callValidationRequest({ validator, agentId, uri: 'ipfs://work', requestHash }));
  const say = (from: Address, response: number) =>
    toValidation(from, callValidationResponse({ requestHash, response, tag: 'audit' }));
  expect(await refusal(ask(client))).toMatch(/Not authorized/);
  expect(await refusal(say(validator, 1))).toMatch(/unknown/);
  expect(names(await done(ask(owner)))).toEqual(['ValidationRequest']);
  expect(await refusal(ask(owner))).toMatch(/exists/);
  expect(await views.validation(requestHash)).toMatchObject({ validator, agentId, response: 0, tag: '' });
  expect(await refusal(say(client, 1))).toMatch(/not validator/);
  expect(await refusal(say(validator, 101))).toMatch(/resp>100/);
  expect(names(await done(say(validator, 40)))).toEqual(['ValidationResponse']);
  await done(say(validator, 100));
  expect(await views.validation(requestHash)).toMatchObject({ response: 100, tag: 'audit' });
});
