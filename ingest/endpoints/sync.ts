import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { UnreadReason } from '../../core/domain/unread-items.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import { LISTED_PAYEE_GRACE_MS } from './activity.ts';
import { type ItemFacts, readItem, unreadReason } from './item.ts';
import type { ListingOutcome, SourceKind, TakeItems } from './list.ts';
import {
  type KnownOffers,
  loadOffers,
  type OfferRow,
  offerRow,
  type SeenOffer,
  saveOffers,
  tombstoneOffers,
} from './offers.ts';

/** A source of endpoints. */
export interface EndpointSource {
  /** Stored with its offers: `bazaar:<facilitator id>`, `well_known:<origin>` (also of a contested origin) or `file`. */
  readonly id: string;
  readonly kind: SourceKind;
  readonly host: string;
  /** Changes when the source must be read at once, regardless of its schedule. */
  readonly mark: string;
  /** The only origin that it may list resources of; undefined: any. */
  readonly origin?: string;
  /** Which resources it is read for; undefined: all. */
  readonly resources?: ReadonlySet<string>;
  read(take: TakeItems, signal: AbortSignal): Promise<ListingOutcome>;
}

export interface SyncDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly tokens: ItemFacts['tokens'];
  readonly nowMs: () => number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface SyncOutcome extends ListingOutcome {
  /** Offers that were seen. */
  readonly offers: number;
  /** Items of the list that are no offer, by reason. */
  readonly unread: Readonly<Partial<Record<UnreadReason, number>>>;
  /** Rows that were written: new, changed or gone. */
  readonly written: number;
}

const ROWS_PER_INSERT = 2_000;
/** Items per turn of the event loop; the same process follows the chains. */
const ITEMS_PER_TURN = 200;
/** Two and more ways to pay each of the 250,000 items that a bazaar is read for. */
const OFFERS_MAX = 600_000;

/**
 * Updates the stored offers of a source to its current list. Stores every offer seen, even if the reading was interrupted; offers that
 * were not seen get a tombstone only if the whole list was read. Calls `onWritten` whenever rows have changed.
 */
export async function syncSource(
  deps: SyncDeps,
  source: EndpointSource,
  onWritten: () => void = () => undefined,
): Promise<SyncOutcome> {
  const { writer, versions, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const known = await acknowledged(() => loadOffers(writer, source.id, deps.nowMs() - LISTED_PAYEE_GRACE_MS));
  const nowSeconds = Math.floor(deps.nowMs() / 1_000);
  const changes = createChanges(known, nowSeconds);
  const flush = (atLeast: number) =>
    changes.flush(atLeast, async (rows) => {
      await acknowledged(() => saveOffers(writer, rows, versions.next()));
      onWritten();
    });
  const facts: ItemFacts = {
    tokens: deps.tokens,
    nowSeconds,
    ...(source.origin === undefined ? {} : { origin: source.origin }),
  };
  const unread: Partial<Record<UnreadReason, number>> = {};
  const see = (item: unknown): void => {
    const offers = readItem(item, facts);
    if (offers.length === 0) {
      const reason = unreadReason(item, facts);
      unread[reason] = (unread[reason] ?? 0) + 1;
    }
    for (const offer of offers)
      if (source.resources?.has(offer.resource) !== false) changes.see(offerRow(source.id, offer));
  };
  const outcome = await source.read(async (items) => {
    for (let at = 0; at < items.length; at += ITEMS_PER_TURN) {
      items.slice(at, at + ITEMS_PER_TURN).forEach(see);
      await flush(ROWS_PER_INSERT);
      await nextTurn();
    }
  }, signal);
  await flush(1);
  const gone = outcome.isWhole && !changes.isFull() ? changes.unseen() : [];
  await acknowledged(() =>
    tombstoneOffers(writer, { source: source.id, offerIds: gone }, () => versions.next()),
  );
  if (gone.length > 0) onWritten();
  return {
    problem: outcome.problem ?? (changes.isFull() ? 'too_many_items' : null),
    isWhole: outcome.isWhole && !changes.isFull(),
    offers: changes.seen(),
    unread,
    written: changes.written() + gone.length,
  };
}

/**
 * Compares listed with stored offers. If an offer is listed twice the first one counts. One that comes back within the grace of a listed
 * payee has the times that it had.
 */
function createChanges(known: KnownOffers, nowSeconds: number) {
  const seen = new Set<string>();
  let waiting: SeenOffer[] = [];
  let written = 0;
  let isFull = false;
  return {
    see(row: OfferRow): void {
      if (seen.has(row.offerId)) return;
      if (seen.size >= OFFERS_MAX) {
        isFull = true;
        return;
      }
      seen.add(row.offerId);
      const old = known.get(row.offerId);
      if (old?.contentId === row.contentId && !old.isGone) return;
      const isSameAmount = old !== undefined && old.amount === row.offer.amount;
      waiting.push({
        row,
        firstSeen: old?.firstSeen ?? nowSeconds,
        termsSince: isSameAmount ? old.termsSince : nowSeconds,
      });
    },
    async flush(atLeast: number, save: (rows: readonly SeenOffer[]) => Promise<void>): Promise<void> {
      if (waiting.length < atLeast) return;
      const rows = waiting;
      waiting = [];
      await save(rows);
      written += rows.length;
    },
    unseen: (): string[] => [...known].flatMap(([id, { isGone }]) => (isGone || seen.has(id) ? [] : [id])),
    seen: () => seen.size,
    written: () => written,
    isFull: () => isFull,
  };
}
