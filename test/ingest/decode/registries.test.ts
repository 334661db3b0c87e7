import { keccak256, pad, stringToHex, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Address } from '../../../core/domain/account.ts';
import { REGISTRY_LIMITS } from '../../../core/domain/agent.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { KNOWN_CHAINS } from '../../../core/domain/known-chains.ts';
import { rowsOfBatch } from '../../../ingest/decode/batch.ts';
import { decodeContextOf, rawLogDataMaxChars } from '../../../ingest/decode/context.ts';
import { AGENT_WALLET_KEY, logFilterOf, REGISTRY_TOPIC } from '../../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import {
  batchOf,
  blockRef,
  type Event,
  PROXY,
  TOKENS,
  transfer,
  USDC,
  used,
  wallet,
  word,
} from '../../kit/chain-logs.ts';
import {
  agentMoved,
  type FeedbackArgs,
  IDENTITY,
  metadataSet,
  newFeedback,
  REGISTRIES,
  REGISTRY_EVENTS,
  REPUTATION,
  registered,
  registryEvent,
  uriUpdated,
  VALIDATION,
} from '../../kit/registry-logs.ts';

const BASE = chainOf(8453);
const [OWNER, CLIENT, VALIDATOR] = [wallet(0x0e1), wallet(0xc1), wallet(0x7a)];
const NOBODY = wallet(0);
const NO_HASH = word(0);
const catalogue = buildCatalogue({ facilitators: [], payees: [] });
const context = decodeContextOf({ chain: BASE, tokens: TOKENS, registries: REGISTRIES }, catalogue);

const rows = (...events: readonly Event[]) => rowsOfBatch(batchOf([[{ events }]]), context, catalogue);
const agentEvents = (...events: readonly Event[]) => rows(...events).agentEvents;
const attestations = (...events: readonly Event[]) => rows(...events).attestations;

const feedback = (given: Partial<FeedbackArgs> = {}): Event =>
  newFeedback({
    agentId: 7n,
    clientAddress: CLIENT,
    feedbackIndex: 1n,
    value: -15n,
    valueDecimals: 1,
    tag1: 'starred',
    tag2: 'fast',
    endpoint: 'https://agent.example/a2a',
    feedbackURI: 'ipfs://feedback',
    feedbackHash: word(0xfeed),
    ...given,
  });

describe('the logs that are asked for', () => {
  test('the topics belong to the declared events', () => {
    const ignored = ['Approval', 'MetadataUpdate', 'Upgraded'];
    const declared = REGISTRY_EVENTS.filter(({ name }) => !ignored.includes(name)).map(toEventSelector);
    expect(new Set(Object.values(REGISTRY_TOPIC))).toEqual(new Set(declared));
    expect(AGENT_WALLET_KEY).toBe(keccak256(stringToHex('agentWallet')));
  });

  test('registries are read together with tokens and proxies, and each of their logs with its block', () => {
    const filter = logFilterOf(context);
    expect(filter.addresses).toEqual(expect.arrayContaining([USDC, PROXY, IDENTITY, REPUTATION, VALIDATION]));
    expect(filter.topics).toEqual(expect.arrayContaining(Object.values(REGISTRY_TOPIC)));
    const { logs } = batchOf([[{ events: [registered(0n, '', OWNER), feedback()] }]]);
    expect(logs.map(filter.isCandidate)).toEqual([true, true]);
  });

  test('a chain without registries asks for nothing of theirs', () => {
    const filter = logFilterOf(decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, catalogue));
    expect(filter.topics).not.toContain(REGISTRY_TOPIC.registered);
    expect(filter.addresses).not.toContain(IDENTITY);
  });

  test.each(KNOWN_CHAINS.map((facts) => [facts.slug, facts] as const))(
    'registries of %s are contracts of their own',
    (_, { tokens, registries }) => {
      const all = [...tokens.map(({ address }) => address), ...Object.values(registries)];
      expect(new Set(all).size).toBe(all.length);
    },
  );
});

describe('identity registry', () => {
  test('what register(uri) logs becomes three events of the agent at their places', () => {
    const events = [
      agentMoved(NOBODY, OWNER, 0n),
      registryEvent(IDENTITY, 'MetadataUpdate', { _tokenId: 0n }),
      registered(0n, 'https://agent.example/card.json', OWNER),
      metadataSet(0n, 'agentWallet', OWNER as `0x${string}`),
    ];
    const { hash, number, time } = blockRef(100);
    const place = { chain: BASE, blockNumber: number, blockTime: time, blockHash: hash };
    const event = { ...place, txHash: word(100_000_000), agentId: 0n, text: '', data: '0x' };
    expect(agentEvents(...events)).toEqual([
      { ...event, logIndex: 0, kind: 'transferred', account: OWNER },
      { ...event, logIndex: 2, kind: 'registered', account: OWNER, text: 'https://agent.example/card.json' },
      { ...event, logIndex: 3, kind: 'wallet_set', account: OWNER },
    ]);
    expect(rows(...events).deadLetters).toEqual([]);
  });

  test('an agent id may have 256 bits', () => {
    const id = 2n ** 256n - 1n;
    const events = [uriUpdated(id, 'x', OWNER), agentMoved(OWNER, CLIENT, id), metadataSet(id, 'k', '0x01')];
    expect(agentEvents(...events).map(({ agentId }) => agentId)).toEqual([id, id, id]);
  });

  test('a wallet is set by 20 bytes and cleared by none', () => {
    const events = [
      metadataSet(1n, 'agentWallet', CLIENT as `0x${string}`),
      metadataSet(1n, 'agentWallet', '0x'),
    ];
    expect(
      agentEvents(...events).map(({ kind, account, text, data }) => [kind, account, text, data]),
    ).toEqual([
      ['wallet_set', CLIENT, '', '0x'],
      ['wallet_set', NOBODY, '', '0x'],
    ]);
  });

  test.each([
    ['a padded word', pad(CLIENT as `0x${string}`)],
    ['19 bytes', `0x${'11'.repeat(19)}` as const],
    ['21 bytes', `0x${'11'.repeat(21)}` as const],
  ])('a wallet of %s is a dead letter', (_, value) => {
    const { agentEvents: found, deadLetters } = rows(metadataSet(1n, 'agentWallet', value));
    expect([found, deadLetters.map(({ reason }) => reason)]).toEqual([[], ['malformed_log']]);
  });

  test('other metadata keeps its key and its bytes', () => {
    const [event] = agentEvents(metadataSet(3n, 'model', '0x00ff10'));
    expect([event?.kind, event?.text, event?.data, event?.account]).toEqual([
      'metadata_set',
      'model',
      '0x00ff10',
      NOBODY,
    ]);
  });

  test('approvals, card notices and upgrades say nothing', () => {
    const events = [
      registryEvent(IDENTITY, 'Approval', { owner: OWNER, approved: CLIENT, tokenId: 1n }),
      registryEvent(IDENTITY, 'Upgraded', { implementation: CLIENT }),
    ];
    expect(rows(...events)).toEqual({ settlements: [], agentEvents: [], attestations: [], deadLetters: [] });
  });
});

describe('reputation and validation registries', () => {
  test('feedback carries everything that was given', () => {
    expect(attestations(feedback())).toMatchObject([
      {
        kind: 'feedback',
        agentId: 7n,
        author: CLIENT,
        client: CLIENT,
        feedbackIndex: 1n,
        value: -15n,
        valueDecimals: 1,
        tag1: 'starred',
        tag2: 'fast',
        endpoint: 'https://agent.example/a2a',
        uri: 'ipfs://feedback',
        fileHash: word(0xfeed),
        requestHash: NO_HASH,
      },
    ]);
  });

  test('a revocation and a response name the feedback that they are about', () => {
    const about = { agentId: 7n, clientAddress: CLIENT, feedbackIndex: 2n ** 64n - 1n };
    const events = [
      registryEvent(REPUTATION, 'FeedbackRevoked', about),
      registryEvent(REPUTATION, 'ResponseAppended', {
        ...about,
        responder: OWNER,
        responseURI: 'https://r.example',
        responseHash: word(5),
      }),
    ];
    expect(attestations(...events)).toMatchObject([
      { kind: 'revocation', author: CLIENT, client: CLIENT, feedbackIndex: 2n ** 64n - 1n, uri: '' },
      {
        kind: 'response',
        author: OWNER,
        client: CLIENT,
        feedbackIndex: 2n ** 64n - 1n,
        uri: 'https://r.example',
        fileHash: word(5),
      },
    ]);
  });

  test('a validation request and its response share the hash', () => {
    const about = { validatorAddress: VALIDATOR, agentId: 9n, requestHash: word(0xabc) };
    const answer = { response: 100, responseURI: 'u', responseHash: word(1), tag: 'tee' };
    const events = [
      registryEvent(VALIDATION, 'ValidationRequest', { ...about, requestURI: 'https://q.example' }),
      registryEvent(VALIDATION, 'ValidationResponse', { ...about, ...answer }),
    ];
    const shared = {
      agentId: 9n,
      author: VALIDATOR,
      client: NOBODY,
      feedbackIndex: 0n,
      requestHash: word(0xabc),
    };
    expect(attestations(...events)).toMatchObject([
      { ...shared, kind: 'validation_request', uri: 'https://q.example', value: 0n, fileHash: NO_HASH },
      { ...shared, kind: 'validation_response', uri: 'u', value: 100n, fileHash: word(1), tag1: 'tee' },
    ]);
  });

  test.each([
    [-(2n ** 127n), 18],
    [2n ** 127n - 1n, 0],
    [-1n, 5],
  ])('a value of %s with %s decimals is exact', (value, valueDecimals) => {
    expect(attestations(feedback({ value, valueDecimals }))).toMatchObject([{ value, valueDecimals }]);
  });

  test('decimals above 18 and responses above 100 are dead letters', () => {
    const response = registryEvent(VALIDATION, 'ValidationResponse', {
      validatorAddress: VALIDATOR,
      agentId: 9n,
      requestHash: word(1),
      response: 101,
      responseURI: '',
      responseHash: word(0),
      tag: '',
    });
    const { attestations: found, deadLetters } = rows(feedback({ valueDecimals: 19 }), response);
    expect([found, deadLetters.map(({ reason, logIndex }) => [reason, logIndex])]).toEqual([
      [],
      [
        ['malformed_log', 0],
        ['malformed_log', 1],
      ],
    ]);
  });
});

describe('emitters', () => {
  const elsewhere = (event: Event, address: Address): Event => ({ ...event, address });

  test.each([
    ['an identity event of the reputation registry', elsewhere(registered(1n, 'x', OWNER), REPUTATION)],
    ['feedback of the identity registry', elsewhere(feedback(), IDENTITY)],
    ['feedback of a token', elsewhere(feedback(), USDC)],
    ['a registration of a stranger', elsewhere(registered(1n, 'x', OWNER), wallet(0xbad))],
    ['an authorization of a registry', elsewhere(used(CLIENT), IDENTITY)],
  ])('%s counts for nothing', (_, event) => {
    expect(rows(event)).toEqual({ settlements: [], agentEvents: [], attestations: [], deadLetters: [] });
  });

  test('an agent that changes hands inside a payment is no payment, and the payment is none of the agent', () => {
    const events = [used(CLIENT), agentMoved(OWNER, CLIENT, 4n), transfer(CLIENT, OWNER, 10), feedback()];
    const found = rows(...events);
    expect(
      found.settlements.map(({ payer, payee, amount, logIndex }) => [payer, payee, amount, logIndex]),
    ).toEqual([[CLIENT, OWNER, 10n, 2]]);
    expect(found.agentEvents.map(({ kind, account, agentId }) => [kind, account, agentId])).toEqual([
      ['transferred', CLIENT, 4n],
    ]);
    expect(found.attestations.length).toBe(1);
    expect(found.deadLetters).toEqual([]);
  });

  test('a transfer of the identity registry in the layout of a token is malformed, not a payment', () => {
    const found = rows(elsewhere(transfer(CLIENT, OWNER, 10), IDENTITY));
    expect(found).toMatchObject({
      settlements: [],
      agentEvents: [],
      deadLetters: [{ reason: 'malformed_log' }],
    });
  });
});

describe('hostile data', () => {
  const dataOf = (...words: readonly (bigint | number)[]): string =>
    `0x${words.map((value) => word(value).slice(2)).join('')}`;
  const raw = (data: string): Event => ({ ...registered(1n, '', OWNER), data });

  test.each([
    ['no data', '0x'],
    ['half a word', `0x${'00'.repeat(16)}`],
    ['an offset behind the end', dataOf(64, 0)],
    ['an offset of 2^255', dataOf(2n ** 255n, 0)],
    ['an offset of 2^53 and a bit', dataOf(2n ** 53n + 1n, 0)],
    ['a length behind the end', dataOf(32, 1)],
    ['a length of 2^256 − 1', dataOf(32, 2n ** 256n - 1n)],
  ])('%s is a dead letter', (_, data) => {
    const found = rows(raw(data));
    expect([found.agentEvents, found.deadLetters.map(({ reason }) => reason)]).toEqual([
      [],
      ['malformed_log'],
    ]);
  });

  test.each([
    ['feedback with three topics', { ...feedback(), topics: feedback().topics.slice(0, 3) }],
    [
      'a registration with four',
      { ...registered(1n, '', OWNER), topics: [...registered(1n, '', OWNER).topics, word(1)] },
    ],
    ['a transfer with data', { ...agentMoved(OWNER, CLIENT, 1n), data: word(1) }],
    [
      'a revocation of an index of 65 bits',
      {
        address: REPUTATION,
        topics: [REGISTRY_TOPIC.feedbackRevoked, word(1), word(2), word(2n ** 64n)],
        data: '0x',
      },
    ],
    [
      'a value of 129 bits',
      {
        ...feedback(),
        data: feedback().data.replace(word(-15n + 2n ** 256n).slice(2), word(2n ** 128n).slice(2)),
      },
    ],
  ])('%s is a dead letter', (_, event) => {
    expect(rows(event as Event)).toMatchObject({
      agentEvents: [],
      attestations: [],
      deadLetters: [{ reason: 'malformed_log' }],
    });
  });

  test('a dead letter keeps no megabytes', () => {
    const [letter] = rows({
      ...agentMoved(OWNER, CLIENT, 1n),
      data: `0x${'ab'.repeat(1_000_000)}`,
    }).deadLetters;
    expect(letter?.rawLog.length).toBeLessThan(rawLogDataMaxChars + 1_000);
  });

  test('bytes that are no UTF-8 become the replacement character', () => {
    const data = `0x${word(32).slice(2)}${word(4).slice(2)}${'61ff6280'.padEnd(64, '0')}`;
    expect(agentEvents(raw(data))).toMatchObject([{ text: 'a\u{fffd}b\u{fffd}' }]);
  });

  test('a URI is kept whole up to its limit and cut between two characters beyond', () => {
    const { uriBytesMax } = REGISTRY_LIMITS;
    const exact = 'x'.repeat(uriBytesMax);
    const long = `${'x'.repeat(uriBytesMax - 1)}€uro`;
    expect(agentEvents(registered(1n, exact, OWNER))[0]?.text).toBe(exact);
    expect(agentEvents(registered(1n, `${exact}y`, OWNER))[0]?.text).toBe(exact);
    expect(agentEvents(registered(1n, long, OWNER))[0]?.text).toBe('x'.repeat(uriBytesMax - 1));
  });

  test('tags, endpoints, keys and values are cut at theirs, and the log stays', () => {
    const { labelBytesMax, metadataBytesMax, uriBytesMax } = REGISTRY_LIMITS;
    const long = 'ä'.repeat(100_000);
    const [given] = attestations(feedback({ tag1: long, tag2: long, endpoint: long, feedbackURI: long }));
    expect([given?.tag1, given?.tag2, given?.endpoint].map((text) => text?.length)).toEqual(
      Array(3).fill(labelBytesMax / 2),
    );
    expect(given?.uri.length).toBe(uriBytesMax / 2);
    expect([given?.value, given?.fileHash]).toEqual([-15n, word(0xfeed)]);
    const [set] = agentEvents(metadataSet(1n, long, `0x${'ee'.repeat(100_000)}`));
    expect([set?.text.length, set?.data.length]).toEqual([labelBytesMax / 2, 2 + 2 * metadataBytesMax]);
  });

  test('a thousand logs that all point at one megabyte are decoded without copying it', () => {
    const megabyte = feedback({ tag1: 'ab'.repeat(500_000) });
    const events = Array.from({ length: 1_000 }, () => megabyte);
    expect(attestations(...events).every(({ tag1 }) => tag1.length === REGISTRY_LIMITS.labelBytesMax)).toBe(
      true,
    );
  });
});
