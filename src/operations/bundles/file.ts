import { fail } from '../../../core/errors.ts';
import type { CataloguedTable } from '../../bundles/catalogue.ts';
import { type Entry, MANIFEST_FILE, ManifestShape } from '../../bundles/manifest.ts';
import type { StoredFile } from '../../bundles/store.ts';
import { type FileAnswer, fixedOutcome, type Outcome } from '../answer.ts';
import { defineOperation } from '../define.ts';
import { flagParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import type { BundleDeps } from './list.ts';
import {
  BUNDLE_EXAMPLE,
  BundleShape,
  bundleAnswer,
  bundleChainParam,
  bundleFileParam,
  bundleTableParam,
  MANIFEST_HEAD_EXAMPLE,
  ManifestHeadShape,
  manifestHead,
} from './shape.ts';

const PARQUET_TYPE = 'application/vnd.apache.parquet';

interface FoundFile {
  readonly of: CataloguedTable;
  /** Null for the manifest. */
  readonly entry: Entry | null;
  readonly isDescribed: boolean;
  readonly stored: StoredFile;
}

export const getBundleFile = defineOperation({
  id: 'getBundleFile',
  wire: {
    path: '/bundles/{chain}/{table}/{file}',
    params: {
      chain: bundleChainParam,
      table: bundleTableParam,
      file: bundleFileParam,
      describe: {
        ...flagParam('Return what is known about the file instead of the file.', ''),
        toolDefault: true,
      },
    },
    output: BundleShape,
    alsoAnswers: [ManifestHeadShape, ManifestShape],
    media: { [PARQUET_TYPE]: { holds: 'The rows of the day.' } },
    answerHeaders: {
      'accept-ranges': '`bytes` for Parquet files, which take one range; `none` for the manifest.',
      'content-range': 'Which bytes of how many a 206 has, or how many there are after a 416.',
    },
    takesRanges: true,
    fails: ['invalid_parameter', 'not_found', 'range_not_satisfiable'],
    caching: 'revalidate',
  },
  words: {
    summary: 'The Parquet file of one day, or the signed manifest of a table',
    description:
      'The bytes of a file that /bundles lists, or of an older revision that the manifest names. Parquet files take one `Range` and have a strong ETag, their SHA-256; each request for bytes is a call. `manifest.json` and `describe` are free.',
    tool: 'URL, size and hashes of one file of list_bundles. Download it from there with your key.',
    example: BUNDLE_EXAMPLE,
    moreExamples: { manifest: { summary: 'What is known of a manifest.', value: MANIFEST_HEAD_EXAMPLE } },
  },
  money: { price: PRICES.keyed, load: 'none' },
  terms: ({ file, describe }) => ({
    price: file === MANIFEST_FILE || describe ? PRICES.free : PRICES.keyed,
    byUse: false,
    tier: null,
  }),
  review: async ({ chain, table, file, describe }, { bundles }: BundleDeps): Promise<FoundFile> => {
    const of = await bundles.of(chain, table);
    // The name is looked up and never becomes part of a path by itself.
    const entry = of?.manifest.entries.find((one) => one.file === file) ?? null;
    if (of === null || (entry === null && file !== MANIFEST_FILE)) throw noFile();
    const stored = await bundles.open(of, entry?.file ?? MANIFEST_FILE);
    if (stored === null) throw noFile();
    return { of, entry, isDescribed: describe, stored };
  },
  run: async (found): Promise<Outcome> => {
    if (found.isDescribed) return fixedOutcome(described(found));
    const answer = { file: fileAnswer(found) };
    return { usedQu: null, answer: () => answer, discard: () => undefined };
  },
});

function noFile(): Error {
  return fail('not_found', { detail: 'There is no such file: /v0/bundles lists those that there are.' });
}

function described({ of, entry }: FoundFile): Record<string, unknown> {
  return entry === null ? manifestHead(of) : bundleAnswer(of, entry);
}

function fileAnswer({ of, entry, stored }: FoundFile): FileAnswer {
  const { byteLength: bytes, stream } = stored;
  if (entry === null) {
    // Its signature changes with its content.
    const { value } = of.manifest.signature;
    return {
      mediaType: 'application/json',
      bytes,
      stream,
      etag: `W/"${value.slice(0, 27)}"`,
      takesRanges: false,
    };
  }
  return { mediaType: PARQUET_TYPE, bytes, stream, etag: `"${entry.sha256}"`, takesRanges: true };
}
