import { accountText, hashText } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import {
  addressField,
  bigintField,
  hashField,
  integerField,
  textField,
} from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, trustedText, uint32 } from '../../../clickhouse/engine/sql.ts';
import { channelSums, returnedSums } from '../../../clickhouse/tables/channel-rows.ts';
import {
  decodeSettlement,
  LISTED_COLUMNS,
  type ListedSettlement,
  SETTLEMENTS,
} from '../../../clickhouse/tables/settlements.ts';
import type { Address, Hash } from '../../../core/domain/account.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { ChannelPosition } from '../../../core/domain/cursor.ts';
import type { PaymentScheme } from '../../../core/domain/settlement.ts';
import { ask } from '../ask.ts';
import { type FinalBlock, onChain, onlyFinal } from '../index-state/finality.ts';

/** Payment channels and escrowed payments, summed from their rows. */

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;

/** Sums of one kind of money, in atomic units and millionths of a dollar. */
export interface Money {
  readonly units: bigint;
  readonly usdMicros: bigint;
}

export interface Channel {
  readonly channel: Hash;
  readonly chain: Chain;
  readonly scheme: PaymentScheme;
  readonly contract: Address;
  readonly payer: Address;
  readonly payee: Address;
  readonly asset: Address;
  readonly assetSymbol: string;
  readonly deposited: Money;
  readonly paid: Money;
  /** All of the next three. */
  readonly returned: Money;
  readonly refunded: Money;
  readonly withdrawn: Money;
  readonly voided: Money;
  /** Null where indexing began after its first deposit. */
  readonly balance: Money | null;
  /** Whether its amounts have a dollar value. */
  readonly usdKnown: boolean;
  readonly paymentCount: number;
  readonly eventCount: number;
  readonly openedAt: number;
  readonly lastEventAt: number;
}

export interface ChannelsQuery {
  readonly chains: readonly Chain[];
  readonly wallet: Address;
  readonly role: 'payer' | 'payee' | 'any';
  readonly before: ChannelPosition | undefined;
  readonly limit: number;
}

/** Channels of a wallet, the ones opened last first; one more than `limit` where there are more. */
export async function readChannels(reader: Reader, query: ChannelsQuery): Promise<Channel[]> {
  const { chains, before, limit } = query;
  const { rows } = await ask(reader, RESOURCE, {
    name: 'channels-of-wallet',
    maxSeconds: MAX_SECONDS,
    maxRows: limit + 1,
    sql: sql`SELECT * FROM (${channelsSql([sql`chain IN ${texts(chains)}`, partyIs(query)])})
      WHERE ${before === undefined ? sql`1` : sql`(opened, id) < (${uint32(before.openedAt)}, ${text(before.channel)})`}
      ORDER BY opened DESC, id DESC LIMIT ${uint32(limit + 1)}`,
  });
  return rows.map(decodeChannel);
}

/** Undefined for one without a row on these chains. */
export async function readChannel(
  reader: Reader,
  channel: Hash,
  chains: readonly Chain[],
): Promise<Channel | undefined> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'channel',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`${channelsSql([isChannel(channel), sql`chain IN ${texts(chains)}`])} LIMIT 1`,
  });
  return rows.map(decodeChannel)[0];
}

/** The newest rows of a channel, newest first. */
export async function readChannelRows(
  reader: Reader,
  { channel, chain }: Pick<Channel, 'channel' | 'chain'>,
  limit: number,
): Promise<ListedSettlement[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'channel-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT ${LISTED_COLUMNS} FROM channel_rows FINAL WHERE ${isChannel(channel)} AND chain = ${text(chain)} AND del = 0
      ORDER BY block_time DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`,
  });
  return rows.map(decodeSettlement);
}

function isChannel(channel: Hash): Sql {
  return sql`channel = unhex(substring(${text(channel)}, 3))`;
}

/** Rows of channels that the wallet pays from, or is paid from. */
export function partyIs({ wallet, role }: Pick<ChannelsQuery, 'wallet' | 'role'>): Sql {
  // The indexes are on the texts (clickhouse/tables/channel-rows.ts).
  const paid = sql`${accountText('payer')} = ${text(wallet)}`;
  const received = sql`${accountText('payee')} = ${text(wallet)}`;
  if (role === 'any') return sql`(${paid} OR ${received})`;
  return role === 'payer' ? paid : received;
}

/** Every channel that has rows under the conditions. A charge of an escrow takes money that was never deposited. */
function channelsSql(conditions: readonly Sql[]): Sql {
  const sums = (amount: string): Sql =>
    trustedText(`arrayMap(sum -> toString(sum), [${channelSums(amount)}, ${returnedSums(amount)}])`);
  return sql`SELECT ${hashText('channel')} AS id, chain, scheme, ${accountText('any(payer)')}, ${accountText('any(payee)')},
      ${accountText('any(asset)')}, any(asset_symbol), ${sums('amount')},
      ${sums(DOLLARS)}, max(usd_known), countIf(kind = 'payment'), count(),
      toUnixTimestamp(min(block_time)) AS opened, toUnixTimestamp(max(block_time)), ${trustedText(SETTLEMENTS.columns.contract.select('any(contract)'))}
    FROM ${rowsWhere(conditions)} GROUP BY channel, chain, scheme`;
}

/** Sums of a column of 18 digits may have more. */
const DOLLARS = 'toDecimal128(amount_usd, 6)';

function rowsWhere(conditions: readonly Sql[]): Sql {
  return sql`(SELECT * FROM channel_rows FINAL WHERE ${allOf(conditions)}) WHERE del = 0`;
}

/** What a wallet has in channels and escrows in one role. */
export interface ChannelSide {
  readonly channels: number;
  /** Of these, the ones that hold money. */
  readonly open: number;
  /** What these hold; null where no token of theirs has a dollar value. */
  readonly balanceUsdMicros: bigint | null;
  readonly paidUsdMicros: bigint;
}

export interface WalletChannels {
  readonly asPayer: ChannelSide;
  readonly asPayee: ChannelSide;
}

interface WalletQuestion {
  readonly wallet: Address;
  readonly chain: Chain | undefined;
  /** Only rows up to these blocks count; undefined: rows at the tip count too. */
  readonly final: readonly FinalBlock[] | undefined;
}

/** Null for a wallet that is in no channel. A channel whose first deposit is not indexed has no balance, and is not open. */
export async function readWalletChannels(
  reader: Reader,
  { wallet, chain, final }: WalletQuestion,
): Promise<WalletChannels | null> {
  const conditions = [...onChain(chain), ...onlyFinal(final), partyIs({ wallet, role: 'any' })];
  const side = (is: string): Sql =>
    trustedText(`countIf(${is}), countIf(${is} AND is_open), toString(sumIf(usd.1 - usd.4, ${is} AND is_open)),
      countIf(${is} AND is_open AND known), toString(sumIf(usd.2, ${is}))`);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'channels-of-wallet-summed',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT ${side('pays')}, ${side('is_paid')} FROM (
      SELECT ${accountText('any(payer)')} = ${text(wallet)} AS pays, ${accountText('any(payee)')} = ${text(wallet)} AS is_paid,
        tuple(${trustedText(channelSums('amount'))}) AS units, tuple(${trustedText(channelSums(DOLLARS))}) AS usd,
        units.1 > units.4 AS is_open, max(usd_known) AS known
      FROM ${rowsWhere(conditions)} GROUP BY channel, chain, scheme)`,
  });
  const row = rows[0] ?? [];
  const sides = {
    asPayer: decodeSide(row.slice(0, SIDE_COLUMNS)),
    asPayee: decodeSide(row.slice(SIDE_COLUMNS)),
  };
  return sides.asPayer.channels + sides.asPayee.channels === 0 ? null : sides;
}

const SIDE_COLUMNS = 5;

function decodeSide([channels, open, balance, valued, paid]: readonly unknown[]): ChannelSide {
  const isValued = integerField(open) === 0 || integerField(valued) > 0;
  return {
    channels: integerField(channels),
    open: integerField(open),
    balanceUsdMicros: isValued ? microsFromDecimal(textField(balance)) : null,
    paidUsdMicros: microsFromDecimal(textField(paid)),
  };
}

function decodeChannel(row: readonly unknown[]): Channel {
  const [deposited, paid, returned, out, refunded, withdrawn, voided] = moneyOf(row[7], row[8]);
  const scheme = textField(row[2]) as PaymentScheme; // this program alone writes it
  return {
    channel: hashField(row[0]),
    chain: textField(row[1]) as Chain, // likewise
    scheme,
    contract: addressField(row[14]),
    payer: addressField(row[3]),
    payee: addressField(row[4]),
    asset: addressField(row[5]),
    assetSymbol: textField(row[6]),
    deposited,
    paid,
    returned,
    refunded,
    withdrawn,
    voided,
    balance: balanceOf(scheme, deposited, out),
    usdKnown: integerField(row[9]) === 1,
    paymentCount: integerField(row[10]),
    eventCount: integerField(row[11]),
    openedAt: integerField(row[12]),
    lastEventAt: integerField(row[13]),
  };
}

function balanceOf(scheme: PaymentScheme, deposited: Money, out: Money): Money | null {
  if (deposited.units >= out.units)
    return { units: deposited.units - out.units, usdMicros: deposited.usdMicros - out.usdMicros };
  return scheme === 'auth-capture' && deposited.units === 0n ? deposited : null;
}

const NOTHING: Money = { units: 0n, usdMicros: 0n };

type Sums = readonly [Money, Money, Money, Money, Money, Money, Money];

function moneyOf(units: unknown, dollars: unknown): Sums {
  const sums = (units as readonly unknown[]).map((sum, at) => ({
    units: bigintField(sum),
    usdMicros: microsFromDecimal(textField((dollars as readonly unknown[])[at])), // arrays of the statement above
  }));
  const at = (index: number): Money => sums[index] ?? NOTHING;
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6)];
}
