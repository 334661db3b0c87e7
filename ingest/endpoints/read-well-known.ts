import type { DocumentFetcher } from '../fetch/document-fetcher.ts';
import { fieldOf, isObject, parseJson } from '../fetch/json-fields.ts';
import { type ListingOutcome, partly, type TakeItems, WHOLE } from './listing.ts';

/** What a seller publishes of itself at `/.well-known/x402` (protocol.md 1.10); one file, fetched as any stranger's file is. */

/** A seller lists its own resources: hundreds, not hundreds of thousands. */
const FILE_MAX_BYTES = 4_000_000;
const ITEMS_MAX = 5_000;
/** Nobody has written down where the list stands; these are the names in use. */
const LISTS = ['items', 'resources', 'endpoints', 'services', 'accepts'] as const;

export async function readWellKnown(
  origin: string,
  take: TakeItems,
  { fetcher, signal }: { readonly fetcher: DocumentFetcher; readonly signal: AbortSignal },
): Promise<ListingOutcome> {
  const file = await fetcher.fetch(`${origin}/.well-known/x402`, { maxBytes: FILE_MAX_BYTES, signal });
  if (!file.ok) return partly(file.problem);
  const body = parseJson(new TextDecoder().decode(file.bytes));
  if (body === undefined) return partly('not_json');
  const items = itemsOf(body);
  if (items === null) return partly('not_a_list');
  await take(items.slice(0, ITEMS_MAX));
  return items.length > ITEMS_MAX ? partly('too_many_items') : WHOLE;
}

/** Entries that are requirements themselves (`accepts` of a version 1 answer name their resource) become items of one offer. */
function itemsOf(body: unknown): readonly unknown[] | null {
  const list = Array.isArray(body) ? body : LISTS.map((name) => fieldOf(body, name)).find(Array.isArray);
  if (!Array.isArray(list)) return null;
  return list.map((item: unknown) =>
    isObject(item) && item['accepts'] === undefined && item['payTo'] !== undefined
      ? { ...item, accepts: [item] }
      : item,
  );
}
