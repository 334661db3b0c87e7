import { type Static, Type } from '@sinclair/typebox';
import { defineOperation } from '../define.ts';
import { finalOnly } from '../index-state/finality.ts';
import { ListMetaShape, listMeta, META_EXAMPLE } from '../meta.ts';
import type { WalletName } from '../names.ts';
import { beforeParam, chainOrAllParam, finalityParam, limitParam, roleParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { NAMED_SETTLEMENT_EXAMPLE } from '../settlements/shape.ts';
import {
  AddressShape,
  CountShape,
  NameSourceShape,
  NextBeforeShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
} from '../shapes.ts';
import { nextBefore, readBefore, WALLET_CURSOR } from '../walk.ts';
import { readWalletList } from './read-list.ts';
import type { ListedWallet } from './slice.ts';

const SCOPE = 'listWallets';

const WALLET_ROLES = ['payer', 'payee'] as const;

const WalletShape = Type.Object(
  {
    wallet: AddressShape,
    name: orNull(Type.String({ description: 'Null when unknown.' })),
    name_source: NameSourceShape,
    roles: Type.Array(oneOf(WALLET_ROLES)),
    settlement_count: { ...CountShape, description: 'A payment of the wallet to itself counts once.' },
    first_seen: TimeShape,
    last_seen: TimeShape,
  },
  { title: 'Wallet' },
);

const EXAMPLE: Static<typeof WalletShape> = {
  wallet: NAMED_SETTLEMENT_EXAMPLE.payee,
  name: NAMED_SETTLEMENT_EXAMPLE.payee_name,
  name_source: NAMED_SETTLEMENT_EXAMPLE.payee_name_source,
  roles: ['payee'],
  settlement_count: 18_204,
  first_seen: '2026-03-02T17:40:11Z',
  last_seen: NAMED_SETTLEMENT_EXAMPLE.block_time,
};

export const listWallets = defineOperation({
  id: SCOPE,
  method: 'GET',
  path: '/wallets',
  summary: 'Every wallet of a chain, or of all chains, by address',
  description:
    'Wallets that paid or were paid, highest address first; send `next_before` back as `before` for the next ones. The order does not change while the index grows: a walk meets every wallet that was there all the time exactly once, and one that appears meanwhile if its address is still to come. `role`, `chain` and `finality` select settlements: a row is about those alone, and a wallet without any is not listed. Without `chain` these are the settlements of the default chain; `all` lists every wallet.',
  toolText:
    'Every wallet that paid or was paid, with its counts and sums, in order of address. To rank wallets use run_sql.',
  price: PRICES.keyed,
  load: 'summary',
  params: {
    limit: limitParam,
    before: beforeParam,
    role: roleParam,
    chain: chainOrAllParam,
    finality: finalityParam,
  },
  output: Type.Object({
    wallets: Type.Array(WalletShape),
    next_before: NextBeforeShape,
    meta: ListMetaShape,
  }),
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'before',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    wallets: [EXAMPLE],
    next_before: null,
    meta: { chain: META_EXAMPLE.chain, as_of: META_EXAMPLE.as_of, freshness: META_EXAMPLE.freshness },
  },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(WALLET_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async ({ limit, before, role, chain, finality }, deps) => {
    const {
      reader,
      clock,
      cursorKeys,
      deployment: { chains },
      index: { dataset, names, freshness, rollups },
    } = deps;
    const nowMs = clock.nowMs();
    const [statuses, coverage] = await Promise.all([freshness.statuses(), rollups.coverage()]);
    const final = finalOnly(finality, statuses);
    const page = await readWalletList({ reader, coverage }, { limit, before, role, chain, final });
    const directory = await names.of(page.rows.map((row) => row.wallet));
    const named = chain === undefined ? chains : [chain];
    return {
      wallets: page.rows.map((row) => walletAnswer(row, directory.walletName(row.wallet, named))),
      next_before: nextBefore(WALLET_CURSOR, { keys: cursorKeys, scope: SCOPE }, page.nextBefore),
      meta: await listMeta({ chain, chains, statuses, nowMs, finality }, page.rows, dataset.settlements),
    };
  },
});

function walletAnswer(row: ListedWallet, named: WalletName | null): Static<typeof WalletShape> {
  return {
    wallet: row.wallet,
    name: named?.name ?? null,
    name_source: named?.source ?? null,
    roles: WALLET_ROLES.filter((role) => (role === 'payer' ? row.isPayer : row.isPayee)),
    settlement_count: row.settlementCount,
    first_seen: timeText(row.firstSeen),
    last_seen: timeText(row.lastSeen),
  };
}
