import { Type } from '@sinclair/typebox';
import { fail } from '../../../core/errors.ts';
import { beforeParam, chainParam, limitParam, roleParam, walletParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { finalityOf } from '../index-state/freshness.ts';
import { META_FIELDS_EXAMPLE, MetaShape, metaAnswer } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { readChannelId } from '../settlements/filters.ts';
import { NamedSettlementShape, namedSettlementAnswer, partiesOf } from '../settlements/shape.ts';
import { CountShape, NextBeforeShape } from '../shapes.ts';
import { CHANNEL_CURSOR, nextBefore, readBefore } from '../walk.ts';
import { readChannel, readChannelRows, readChannels } from './read.ts';
import { CHANNEL_EXAMPLE, ChannelIdShape, ChannelShape, channelAnswer } from './shape.ts';

const SCOPE = 'listEntityChannels';
/** Of the rows of one channel. */
const ROWS_SHOWN_MAX = 100;

export const getChannel = defineOperation({
  id: 'getChannel',
  wire: {
    path: '/channels/{channel}',
    params: {
      channel: {
        in: 'path',
        description: 'Id of a payment channel or escrowed payment: 0x and hex.',
        toolText: 'Channel id.',
        required: true,
        schema: ChannelIdShape,
        example: CHANNEL_EXAMPLE.channel,
        read: readChannelId,
      },
    },
    output: Type.Object({
      channel: ChannelShape,
      event_count: { ...CountShape, description: 'Its deposits, payments and returns.' },
      settlements: Type.Array(NamedSettlementShape, { maxItems: ROWS_SHOWN_MAX }),
      meta: MetaShape,
    }),
    fails: ['invalid_parameter', 'channel_not_found', 'upstream_unavailable'],
  },
  words: {
    summary: 'A payment channel or escrowed payment',
    description: `What was deposited into a channel of \`batch-settlement\` or an escrow of \`auth-capture\`, what the payee was paid out of it, what went back, and the balance; with its newest ${ROWS_SHOWN_MAX} rows. All of them: \`/transactions?channel=\`. A claim stands for any number of calls. Payouts of a payee cover all its channels and belong to none.`,
    tool: null,
    example: {
      channel: CHANNEL_EXAMPLE,
      event_count: 32,
      settlements: [],
      meta: META_FIELDS_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  run: async ({ channel: id }, { reader, clock, deployment, index: { names, freshness } }) => {
    const { chains } = deployment;
    const nowMs = clock.nowMs();
    const [statuses, channel] = await Promise.all([freshness.statuses(), readChannel(reader, id, chains)]);
    if (channel === undefined)
      throw fail('channel_not_found', { detail: `No row of the channel ${id} is indexed.` });
    const rows = await readChannelRows(reader, channel, ROWS_SHOWN_MAX);
    const directory = await names.of([channel.payer, channel.payee, ...partiesOf(rows)]);
    return {
      channel: channelAnswer(channel, deployment, directory),
      event_count: channel.eventCount,
      settlements: rows.map((row) =>
        namedSettlementAnswer(
          row,
          finalityOf(row.blockNumber, statuses.get(row.chain)),
          deployment,
          directory,
        ),
      ),
      meta: metaAnswer({ chain: channel.chain, chains, statuses, nowMs }),
    };
  },
});

export const listEntityChannels = defineOperation({
  id: SCOPE,
  wire: {
    path: '/entities/{wallet}/channels',
    params: {
      wallet: walletParam,
      role: {
        ...roleParam,
        description: 'Only channels that the wallet pays from, or is paid from. `any` (default) has both.',
      },
      limit: limitParam,
      before: beforeParam,
      chain: chainParam,
    },
    output: Type.Object({
      channels: Type.Array(ChannelShape),
      next_before: NextBeforeShape,
      meta: MetaShape,
    }),
    paging: 'before',
  },
  words: {
    summary: 'The payment channels and escrows of a wallet',
    description:
      'Channels of `batch-settlement` and escrows of `auth-capture` in which the wallet is payer or payee, the ones opened last first, each with what was deposited, paid, returned and is left. `balance` is money that a payer has committed and its payee has not claimed.',
    tool: null,
    example: { channels: [CHANNEL_EXAMPLE], next_before: null, meta: META_FIELDS_EXAMPLE },
  },
  money: { price: PRICES.keyed },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(CHANNEL_CURSOR, { keys: cursorKeys, scope: scopeOf(input.wallet) }, input.before),
  }),
  run: async ({ wallet, role, limit, before, chain }, deps) => {
    const {
      reader,
      clock,
      cursorKeys,
      deployment,
      index: { names, freshness },
    } = deps;
    const { chains } = deployment;
    const nowMs = clock.nowMs();
    const asked = chain === undefined ? chains : [chain];
    const [statuses, found] = await Promise.all([
      freshness.statuses(),
      readChannels(reader, { chains: asked, wallet, role, before, limit }),
    ]);
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    const directory = await names.of(rows.flatMap(({ payer, payee }) => [payer, payee]));
    return {
      channels: rows.map((row) => channelAnswer(row, deployment, directory)),
      next_before: nextBefore(CHANNEL_CURSOR, { keys: cursorKeys, scope: scopeOf(wallet) }, last),
      meta: metaAnswer({ chain, chains, statuses, nowMs }),
    };
  },
});

function scopeOf(wallet: string): string {
  return `${SCOPE} ${wallet}`;
}
