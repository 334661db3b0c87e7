import { accountText, hashText } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { addressField, hashField } from '../../clickhouse/engine/row-reader.ts';
import { sql, text, texts } from '../../clickhouse/engine/sql.ts';
import type { Hash } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { BlockBatch } from '../chain/block-source.ts';
import { unknownChannels } from '../decode/channels/in-batch.ts';
import { type KnownTerms, NO_TERMS } from '../decode/channels/moves.ts';
import type { DecodeContext } from '../decode/context.ts';

const MAX_SECONDS = 30;
/** Channels that one question names; a batch that needs more leaves the rest as dead letters, which are tried again. */
const CHANNELS_MAX = 10_000;

/**
 * The parties of the channels of which a batch has events and whose terms it does not show: as the rows of earlier events have them. An id
 * is a digest of the terms, so it has the same ones on every fork.
 */
export async function readChannelTerms(
  writer: Pick<Writer, 'rows'>,
  batch: BlockBatch,
  context: Pick<DecodeContext, 'chain' | 'tokens' | 'proxies' | 'registries' | 'channels'>,
): Promise<KnownTerms> {
  const wanted = unknownChannels(batch, context).slice(0, CHANNELS_MAX);
  return wanted.length === 0 ? NO_TERMS : readTerms(writer, context.chain, wanted);
}

async function readTerms(
  writer: Pick<Writer, 'rows'>,
  chain: Chain,
  channels: readonly Hash[],
): Promise<KnownTerms> {
  const { rows } = await writer.rows({
    name: `channel-terms ${chain}`,
    sql: sql`SELECT ${hashText('channel')} AS id, ${accountText('any(payer)')}, ${accountText('any(payee)')}, ${accountText('any(asset)')}
      FROM channel_rows
      WHERE channel IN (SELECT unhex(substring(arrayJoin(${texts(channels)}), 3))) AND chain = ${text(chain)} AND del = 0
      GROUP BY channel`,
    maxSeconds: MAX_SECONDS,
    maxRows: CHANNELS_MAX,
  });
  const known = new Map(
    rows.map(([id, payer, payee, token]) => [
      hashField(id),
      { payer: addressField(payer), payee: addressField(payee), token: addressField(token) },
    ]),
  );
  return (channel) => known.get(channel);
}
