import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Address } from '../../core/domain/account.ts';
import { type BlockBatch, type BlockSource, type RawLog, ReceiptsUnread } from '../chain/block-source.ts';
import { orderLogs } from '../chain/check-batch.ts';
import { groupByBlock } from '../chain/prove-complete.ts';
import { rowsOfBatch } from '../decode/batch.ts';
import type { DecodeContext } from '../decode/context.ts';
import { emittersOf, isCandidate, KIND, kindOf, logFilterOf } from '../decode/log-kind.ts';
import { unpairedLogs } from '../decode/pair.ts';
import { readChannelTerms } from './channel-terms.ts';
import type { WindowReader } from './pipeline.ts';

export interface EvmWindowsDeps {
  readonly source: Pick<BlockSource, 'read' | 'receipts'>;
  readonly context: DecodeContext;
  /** Asked for the terms of channels that earlier blocks opened. */
  readonly writer: Pick<Writer, 'rows'>;
}

/** Windows of an EVM chain: logs of its tokens, proxies, registries and channel contracts. */
export function createEvmWindows({ source, context, writer }: EvmWindowsDeps): WindowReader {
  const filter = logFilterOf(context);
  const { chain } = context;
  return {
    contracts: emittersOf(context),
    async read(from, to, readWith, options) {
      const isCataloguedPayee = (payee: Address): boolean => readWith.isPayee(chain, payee);
      const asOf = { ...context, isCataloguedPayee };
      const wanted = { ...filter, isCandidate: (log: RawLog) => isCandidate(log, asOf) };
      const read = await source.read(from, to, wanted, options);
      const batch = await settleByReceipt(source, read, asOf);
      const knownTerms = await readChannelTerms(writer, batch, context);
      const { blocks, logs, waitedMs, readFrom } = batch;
      return {
        ...{ from, to, blocks, size: logs.length, waitedMs, readFrom },
        rowsBy(catalogue) {
          // The batch holds only the transactions of bare transfers to payees that were catalogued when it was read.
          const isPayeeOfBoth = (payee: Address): boolean =>
            isCataloguedPayee(payee) && catalogue.isPayee(chain, payee);
          return rowsOfBatch(batch, { ...context, isCataloguedPayee: isPayeeOfBoth, knownTerms }, catalogue);
        },
      };
    },
  };
}

/**
 * The batch with the transfers that the receipts of its lone authorizations and proxy events show: a node that lost a transfer has it in
 * the receipt, and only there is that of a token which is not listed. Without the receipts they become dead letters, which are tried again
 * (repair.ts).
 */
async function settleByReceipt(
  source: Pick<BlockSource, 'receipts'>,
  batch: BlockBatch,
  context: DecodeContext,
): Promise<BlockBatch> {
  const alone = groupByBlock(unpairedLogs(batch.logs, context));
  if (alone.size === 0) return batch;
  const wanted = [...alone].map(([number, logs]) => ({
    number,
    hash: logs[0]?.blockHash ?? null,
    transactions: [...new Set(logs.map(({ transactionHash }) => transactionHash))],
  }));
  const asked = { callsMax: RECEIPT_CALLS_MAX, before: () => Promise.resolve() };
  const answers = await source.receipts(wanted, asked).catch((error: unknown) => {
    if (error instanceof ReceiptsUnread) return [];
    throw error;
  });
  const placeOf = ({ blockNumber, logIndex }: RawLog): string => `${blockNumber}/${logIndex}`;
  const known = new Set(batch.logs.map(placeOf));
  const transactions = new Set(wanted.flatMap((block) => block.transactions));
  const lost = answers
    .flatMap((block) => block?.logs ?? [])
    .filter((log) => transactions.has(log.transactionHash) && TRANSFERS.includes(kindOf(log, context)))
    .filter((log) => !known.has(placeOf(log)));
  return lost.length === 0 ? batch : { ...batch, logs: orderLogs([...batch.logs, ...lost]).logs };
}

const TRANSFERS: readonly number[] = [KIND.transfer, KIND.unlistedTransfer];

/** A block of a busy chain has a megabyte of receipts, which are parsed at once. */
const RECEIPT_CALLS_MAX = 5;
