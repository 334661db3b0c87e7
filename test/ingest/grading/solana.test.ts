import { describe, expect, test } from 'vitest';
import { type Address, address } from '../../../core/domain/account.ts';
import type { TokenFacts } from '../../../core/domain/chains.ts';
import { type EvidenceMethod, reasonsOf } from '../../../core/domain/evidence.ts';
import { knownChain } from '../../../core/domain/networks.ts';
import { readBlock } from '../../../ingest/chain/solana/read-block.ts';
import { decodeSlots } from '../../../ingest/decode/solana/settlements.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { gradeSettlement } from '../../../ingest/grading/grade.ts';
import {
  account,
  blockJson,
  type JsonTransaction,
  SLOT,
  transactionJson,
  transferChecked,
  USDC,
  unitLimit,
  unitPrice,
} from '../../kit/solana-json.ts';

/** What is said of a payment on Solana, from the JSON of its transaction to its rung. */

const CHAIN = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as const;
/** Of x402.org on devnet, in the built-in table. */
const NAMED = address('CKPKJWNdJEqa81x7CkZ14BVPiY6y16Sxs7owznqtWYp5');
const catalogue = buildCatalogue({
  facilitators: [],
  payees: [{ chain: CHAIN, address: account('catalogued'), name: 'Shop', resource: '' }],
});

const TRANSFER = transferChecked({ from: 'alice account', to: 'shop account', amount: 1_000n });
const EXACT = [unitLimit, unitPrice, TRANSFER];

interface Case {
  readonly feePayer: string;
  readonly payee?: string;
  readonly instructions?: JsonTransaction['instructions'];
  readonly method: EvidenceMethod;
  readonly facilitator?: string;
  readonly reasons: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'a known fee payer': {
    feePayer: NAMED,
    method: 'facilitator_relay',
    facilitator: 'x402org',
    reasons: ['direct_call', 'third_party_relay', 'relayer_named', 'sponsored_exact'],
  },
  'a known fee payer, in another form': {
    feePayer: NAMED,
    instructions: [TRANSFER],
    method: 'facilitator_relay',
    facilitator: 'x402org',
    reasons: ['direct_call', 'third_party_relay', 'relayer_named', 'sponsored_transfer'],
  },
  'the payee of a listed resource': {
    feePayer: 'sponsor',
    payee: 'catalogued',
    method: 'catalogued_payee',
    reasons: ['direct_call', 'third_party_relay', 'payee_catalogued', 'sponsored_exact'],
  },
  'the form of the scheme alone': {
    feePayer: 'sponsor',
    method: 'gasless_authorization',
    reasons: ['direct_call', 'third_party_relay', 'sponsored_exact'],
  },
  'a payee that paid the fee itself': {
    feePayer: 'shop',
    method: 'self_relayed',
    reasons: ['direct_call', 'relayed_by_payee', 'sponsored_exact'],
  },
  'a sponsor alone': {
    feePayer: 'sponsor',
    instructions: [TRANSFER],
    method: 'bare_transfer',
    reasons: ['direct_call', 'third_party_relay', 'sponsored_transfer'],
  },
  'no sponsor': {
    feePayer: 'alice',
    payee: 'catalogued',
    method: 'bare_transfer',
    reasons: ['direct_call', 'relayed_by_payer', 'payee_catalogued', 'no_marker'],
  },
};

/** A transaction in which Alice pays 0.001 of a token. */
function decoded({
  payee,
  token,
  ...transaction
}: Pick<JsonTransaction, 'feePayer' | 'instructions' | 'signature'> & {
  readonly payee: string;
  readonly token: TokenFacts;
}) {
  const json = transactionJson({
    ...transaction,
    balances: {
      'alice account': { owner: 'alice', token, before: 5_000n, after: 4_000n },
      'shop account': { owner: payee, token, before: 0n, after: 1_000n },
    },
  });
  const filter = { mints: new Set<string>([token.address]), isCandidate: () => true };
  const answer = readBlock(blockJson([json]), SLOT, filter, true);
  return decodeSlots(
    { blocks: [{ ...answer, time: answer.time ?? 0 }] },
    {
      chain: CHAIN,
      tokens: new Map([[token.address as string, token]]),
      isCataloguedPayee: (at: Address) => catalogue.isPayee(CHAIN, at),
    },
  ).found;
}

/** Published of a payment of devnet, without its payer and its payee: affaan-m/ECC, pull request 2575. */
test('a public payment of devnet is what its source says', () => {
  const token = knownChain('solana-devnet')?.tokens.find(({ symbol }) => symbol === 'USDC') ?? USDC;
  const signature =
    '3dF8CbLSeytRBCHGGsmMwuriuKppx81RKDugo4DnwbaMvYmU27426S7egg9ku3PhSJANk4dr6HS72EBDRdrq2FnM';
  const transfer = transferChecked({ from: 'alice account', to: 'shop account', token, amount: 1_000n });
  const instructions = [unitLimit, unitPrice, transfer];
  const found = decoded({ feePayer: NAMED, instructions, signature, payee: 'shop', token });
  expect(found.map((row) => gradeSettlement(row, catalogue))).toMatchObject([
    {
      ...{ txHash: signature, relayer: NAMED, facilitator: 'x402org', method: 'facilitator_relay' },
      ...{
        asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
        amount: 1_000n,
        scheme: 'exact',
        kind: 'payment',
      },
    },
  ]);
});

describe('the evidence of a payment on Solana', () => {
  test.each(Object.keys(CASES))('%s', (name) => {
    const { feePayer, payee = 'shop', instructions = EXACT, ...expected } = CASES[name] as Case;
    const found = decoded({ feePayer, instructions, payee, token: USDC });
    const rows = found.map((row) => gradeSettlement(row, catalogue));
    expect(
      rows.map(({ method, facilitator, seen }) => ({ method, facilitator, reasons: reasonsOf(seen) })),
    ).toEqual([{ facilitator: '', ...expected }]);
  });
});
