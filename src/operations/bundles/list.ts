import { Type } from '@sinclair/typebox';
import { type BundlePosition, mintBundleCursor, readBundleCursor } from '../../../core/domain/cursor.ts';
import type { BundleCatalogue, CataloguedTable } from '../../bundles/catalogue.ts';
import type { Entry } from '../../bundles/manifest.ts';
import { beforeParam, chainParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape, nowText, TimeShape } from '../shapes.ts';
import { type CursorKind, nextBefore, readBefore } from '../walk.ts';
import {
  BUNDLE_EXAMPLE,
  BundleShape,
  bundleAnswer,
  bundleTableFilter,
  sinceDayParam,
  untilDayParam,
} from './shape.ts';

const BUNDLE_CURSOR: CursorKind<BundlePosition> = { mint: mintBundleCursor, read: readBundleCursor };
const SCOPE = 'listBundles';

export interface BundleDeps extends OperationDeps {
  readonly bundles: BundleCatalogue;
}

export const listBundles = defineOperation({
  id: 'listBundles',
  wire: {
    path: '/bundles',
    params: {
      limit: limitParam,
      before: beforeParam,
      chain: chainParam,
      table: bundleTableFilter,
      since: sinceDayParam,
      until: untilDayParam,
    },
    output: Type.Object({
      bundles: Type.Array(BundleShape),
      next_before: NextBeforeShape,
      meta: Type.Object({ as_of: TimeShape }, { title: 'BundleListMeta' }),
    }),
    fails: ['invalid_parameter'],
    paging: 'before',
    caching: 'revalidate',
  },
  words: {
    summary: 'Parquet files of finalized days, newest first',
    description:
      'One file for each finalized UTC day, chain and table, with its size and hashes: the newest revision of each day. A day gets another revision when its rows changed, by a new catalogue for example; older ones stay in the manifest and can be fetched. `npm run verify` checks files and compares them with an API (guide: [take it home](/docs/bundles)).',
    tool: 'Parquet files of whole finalized days, for download: day, table, rows, size, hashes and URL of each.',
    example: { bundles: [BUNDLE_EXAMPLE], next_before: null, meta: { as_of: '2026-11-20T09:15:04Z' } },
  },
  money: { price: PRICES.free, load: 'none' },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(BUNDLE_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async ({ limit, before, chain, table, since, until }, { bundles, clock, cursorKeys }: BundleDeps) => {
    const all = await listed(
      bundles,
      (of) => (chain ?? of.chain) === of.chain && (table ?? of.table) === of.table,
    );
    const wanted = all.filter(
      ({ entry, of }) =>
        (since === undefined || entry.day >= since) &&
        (until === undefined || entry.day <= until) &&
        (before === undefined || isBehind({ day: entry.day, chain: of.chain, table: of.table }, before)),
    );
    const page = wanted.slice(0, limit);
    const last = wanted.length > limit ? page.at(-1) : undefined;
    const position = last && { day: last.entry.day, chain: last.of.chain, table: last.of.table };
    return {
      bundles: page.map(({ of, entry }) => bundleAnswer(of, entry)),
      next_before: nextBefore(BUNDLE_CURSOR, { keys: cursorKeys, scope: SCOPE }, position),
      meta: { as_of: nowText(clock.nowMs()) },
    };
  },
});

interface Listed {
  readonly of: CataloguedTable;
  readonly entry: Entry;
}

async function listed(
  bundles: BundleCatalogue,
  isWanted: (of: CataloguedTable) => boolean,
): Promise<Listed[]> {
  const tables = (await bundles.all()).filter(isWanted);
  return tables
    .flatMap((of) => of.current.map((entry) => ({ of, entry })))
    .sort((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1));
}

function placeOf({ of, entry }: Listed): BundlePosition {
  return { day: entry.day, chain: of.chain, table: of.table };
}

/** Whether `a` comes after `b`: newest day first, then by chain and table. */
function isBehind(a: BundlePosition, b: BundlePosition): boolean {
  if (a.day !== b.day) return a.day < b.day;
  return a.chain === b.chain ? a.table > b.table : a.chain > b.chain;
}
