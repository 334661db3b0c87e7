import { type Static, Type } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import { isDay } from '../../../core/text.ts';
import type { CataloguedTable } from '../../bundles/catalogue.ts';
import { type Entry, EntryShape, MANIFEST_FILE } from '../../bundles/manifest.ts';
import { BUNDLE_TABLE_NAMES, type BundleTable } from '../../bundles/tables.ts';
import { chainParam, readChain } from '../common-params.ts';
import { invalid, type Param, quoted, readChoice } from '../params.ts';
import { ChainShape, DateShape, oneOf } from '../shapes.ts';

/** A bundle's file in answers, and the parameters of the routes. */

const TableShape = oneOf(BUNDLE_TABLE_NAMES, {
  title: 'BundleTable',
  description: 'Public table of the rows.',
});
const { revision, file, rows, bytes, sha256, rows_sha256, snapshot } = EntryShape.properties;

export const BundleShape = Type.Object(
  {
    chain: ChainShape,
    table: TableShape,
    day: DateShape,
    revision,
    file,
    rows,
    bytes,
    sha256,
    rows_sha256,
    snapshot,
    is_current: Type.Boolean({ description: 'False for a file whose day has a newer revision.' }),
    url: Type.String({ description: 'Where the file is, below the URL of the service.' }),
    manifest_url: Type.String({ description: 'Where the signed manifest is, which names the file.' }),
  },
  { title: 'Bundle' },
);
export type BundleAnswer = Static<typeof BundleShape>;

export function bundleAnswer({ chain, table, current }: CataloguedTable, entry: Entry): BundleAnswer {
  const { day, revision, file, rows, bytes, sha256, rows_sha256, snapshot } = entry;
  const at = urlOf(chain, table);
  return {
    ...{ chain, table, day, revision, file, rows, bytes, sha256, rows_sha256, snapshot },
    is_current: current.some((one) => one.sequence === entry.sequence),
    url: `${at}/${file}`,
    manifest_url: `${at}/${MANIFEST_FILE}`,
  };
}

export const ManifestHeadShape = Type.Object(
  {
    chain: ChainShape,
    table: TableShape,
    file: Type.String(),
    entries: Type.Integer({ minimum: 0, description: 'Files that it names, older revisions too.' }),
    days: Type.Integer({ minimum: 0 }),
    hash: Type.String({ description: 'Hash of the newest entry, which is signed.' }),
    signed_by: Type.String({ description: 'The key, by its name in /.well-known/bundle-keys.json.' }),
    url: Type.String({ description: 'Where the manifest is, below the URL of the service.' }),
  },
  { title: 'BundleManifestHead' },
);

export function manifestHead({
  chain,
  table,
  manifest,
  current,
}: CataloguedTable): Static<typeof ManifestHeadShape> {
  const { entries, signature } = manifest;
  return {
    ...{ chain, table, file: MANIFEST_FILE, entries: entries.length, days: current.length },
    hash: entries.at(-1)?.hash ?? '',
    signed_by: signature.key,
    url: `${urlOf(chain, table)}/${MANIFEST_FILE}`,
  };
}

function urlOf(chain: Chain, table: BundleTable): string {
  return `/v0/bundles/${chain}/${table}`;
}

const FILE_EXAMPLE = '2026-11-19.r1.parquet';
const HASH_EXAMPLE = 'b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184';

export const BUNDLE_EXAMPLE: BundleAnswer = {
  chain: 'eip155:8453',
  table: 'settlements',
  day: '2026-11-19',
  revision: 1,
  file: FILE_EXAMPLE,
  rows: 412_093,
  bytes: 38_210_774,
  sha256: HASH_EXAMPLE,
  rows_sha256: HASH_EXAMPLE,
  snapshot: { finalized_block: 38_412_900, catalogue_pass: 12 },
  is_current: true,
  url: '/v0/bundles/eip155:8453/settlements/2026-11-19.r1.parquet',
  manifest_url: '/v0/bundles/eip155:8453/settlements/manifest.json',
};

export const MANIFEST_HEAD_EXAMPLE: Static<typeof ManifestHeadShape> = {
  chain: 'eip155:8453',
  table: 'settlements',
  file: MANIFEST_FILE,
  entries: 203,
  days: 200,
  hash: HASH_EXAMPLE,
  signed_by: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  url: '/v0/bundles/eip155:8453/settlements/manifest.json',
};

export const bundleTableFilter: Param<BundleTable | undefined> = {
  in: 'query',
  component: 'BundleTable',
  description: 'Only files of this table. Default: all.',
  toolText: 'Only this table. Default all.',
  required: false,
  schema: oneOf(BUNDLE_TABLE_NAMES),
  example: 'settlements',
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, BUNDLE_TABLE_NAMES)),
};

export const bundleTableParam: Param<BundleTable> = {
  in: 'path',
  component: 'BundleTableInPath',
  description: 'Public table of the rows.',
  toolText: 'Table of the file.',
  required: true,
  schema: oneOf(BUNDLE_TABLE_NAMES),
  example: 'settlements',
  read: (raw, name) => readChoice(raw, name, BUNDLE_TABLE_NAMES),
};

export const bundleChainParam: Param<Chain> = {
  ...chainParam,
  in: 'path',
  schema: ChainShape,
  component: 'ChainInPath',
  description: 'Chain of the rows, by CAIP-2 name.',
  toolText: 'Chain of the file, like eip155:8453.',
  required: true,
  read: (raw, name, facts) => {
    if (raw !== undefined) return readChain(raw, name, facts.chains);
    throw invalid(name, `${name} is missing: it is the CAIP-2 name of a chain, such as eip155:8453.`);
  },
};

/** Looked up among the names of the manifest, so any text may come. */
const FILE_NAME_MAX_CHARS = 64;

export const bundleFileParam: Param<string> = {
  in: 'path',
  description: `\`file\` of /bundles, or \`${MANIFEST_FILE}\`: the signed list of all files of the table.`,
  toolText: 'file of list_bundles, or manifest.json.',
  required: true,
  schema: Type.String({ maxLength: FILE_NAME_MAX_CHARS }),
  example: FILE_EXAMPLE,
  read: (raw, name) => {
    if (typeof raw === 'string' && raw !== '' && raw.length <= FILE_NAME_MAX_CHARS) return raw;
    throw invalid(name, `${name} must be the name of a file as /bundles lists it, not ${quoted(raw)}.`);
  },
};

function dayParam(description: string, toolText: string): Param<string | undefined> {
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.String({ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    example: '2026-11-01',
    read: (raw, name) => {
      if (raw === undefined || (typeof raw === 'string' && isDay(raw))) return raw;
      throw invalid(name, `${name} must be a UTC day, such as 2026-11-01, not ${quoted(raw)}.`);
    },
  };
}

export const sinceDayParam = dayParam('Only days from this one on, UTC.', 'First UTC day.');
export const untilDayParam = dayParam('Only days up to this one, UTC.', 'Last UTC day.');
