import { createHash } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { CHAIN_PATTERN } from '../../core/domain/chains.ts';
import { isDay } from '../../core/text.ts';
import { isSignedBy, type SigningKey } from './keys.ts';

/**
 * The manifest of one table of one chain: a log of its files, which is only added to. A day whose rows changed gets another entry with
 * the next revision, and the old entry and file stay. Each entry has the hash of the one before, and the newest hash is signed.
 */

export const BUNDLE_FORMAT = 'settlement-index-bundle/1';
export const MANIFEST_FILE = 'manifest.json';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const SnapshotShape = Type.Object(
  {
    finalized_block: Type.Integer({
      minimum: 0,
      description: 'Newest block that the chain had called final when the rows were read.',
    }),
    catalogue_pass: Type.Integer({
      minimum: 0,
      description:
        'Revision of the catalogues: the regrade that all rows had been through; 0 before the first.',
    }),
  },
  { title: 'BundleSnapshot' },
);

export const EntryShape = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: 'Place in the manifest, from 1.' }),
    day: Type.String({ format: 'date', description: 'UTC day.' }),
    revision: Type.Integer({
      minimum: 1,
      description: '1, and one more each time that rows of the day changed.',
    }),
    file: Type.String({ description: 'Name of the file, next to the manifest.' }),
    rows: Type.Integer({ minimum: 0 }),
    bytes: Type.Integer({ minimum: 0, description: 'Size of the file.' }),
    sha256: Type.String({ ...Sha256, description: 'SHA-256 of the file.' }),
    rows_sha256: Type.String({
      ...Sha256,
      description: 'SHA-256 of the rows as JSON, however the file encodes them.',
    }),
    snapshot: SnapshotShape,
    previous: Type.Union([Sha256, Type.Null()], {
      description: '`hash` of the entry before; null for the first.',
    }),
    hash: Type.String({ ...Sha256, description: 'SHA-256 over this entry and `previous`.' }),
  },
  { title: 'BundleEntry' },
);
export type Entry = Static<typeof EntryShape>;

export const ManifestShape = Type.Object(
  {
    format: Type.Literal(BUNDLE_FORMAT),
    chain: Type.String({ pattern: CHAIN_PATTERN }),
    table: Type.String({ pattern: '^[a-z_]{1,40}$' }),
    entries: Type.Array(EntryShape, { description: 'In the order in which they were made.' }),
    signature: Type.Object(
      {
        algorithm: Type.Literal('Ed25519'),
        key: Type.String({ description: '`kid` of the key in /.well-known/bundle-keys.json.' }),
        public_key: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Base64url.' }),
        value: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$', description: 'Base64url.' }),
      },
      { title: 'BundleSignature' },
    ),
  },
  { title: 'BundleManifest' },
);
export type Manifest = Static<typeof ManifestShape>;

/** One table of one chain. */
export interface BundleOf {
  readonly chain: string;
  readonly table: string;
}

export type NewEntry = Omit<Entry, 'sequence' | 'revision' | 'previous' | 'hash'>;

/** The entries with one more at their end. */
export function appended(of: BundleOf, entries: readonly Entry[], made: NewEntry): Entry[] {
  const last = entries.at(-1);
  const plain = {
    ...made,
    sequence: entries.length + 1,
    revision: nextRevision(entries, made.day),
    previous: last?.hash ?? null,
  };
  return [...entries, { ...inOrder(plain), hash: entryHash(of, plain) }];
}

export function nextRevision(entries: readonly Entry[], day: string): number {
  return (newestOf(entries, day)?.revision ?? 0) + 1;
}

/** The entry that counts for a day. */
export function newestOf(entries: readonly Entry[], day: string): Entry | undefined {
  return entries.findLast((entry) => entry.day === day);
}

/** The entry that counts for each day, oldest day first. */
export function currentEntries(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.day, entry])).values()].sort((a, b) =>
    a.day < b.day ? -1 : 1,
  );
}

export function fileOf(day: string, revision: number): string {
  return `${day}.r${revision}.parquet`;
}

function inOrder({
  sequence,
  day,
  revision,
  file,
  rows,
  bytes,
  sha256,
  rows_sha256,
  snapshot,
  previous,
}: Omit<Entry, 'hash'>) {
  return { sequence, day, revision, file, rows, bytes, sha256, rows_sha256, snapshot, previous };
}

/** Over the values in a fixed order, so that the spelling of the JSON file does not count. */
function entryHash({ chain, table }: BundleOf, entry: Omit<Entry, 'hash'>): string {
  const { sequence, day, revision, file, rows, bytes, sha256, rows_sha256, snapshot, previous } = entry;
  const { finalized_block, catalogue_pass } = snapshot;
  const values = [
    ...[BUNDLE_FORMAT, chain, table, sequence, day, revision, file, rows, bytes],
    ...[sha256, rows_sha256, finalized_block, catalogue_pass, previous],
  ];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

export function signedText({ chain, table }: BundleOf, entries: readonly Entry[]): string {
  return [BUNDLE_FORMAT, chain, table, entries.length, entries.at(-1)?.hash ?? '', ''].join('\n');
}

export function signed({ chain, table }: BundleOf, entries: readonly Entry[], key: SigningKey): Manifest {
  const { kid, x } = key.publicKey;
  return {
    format: BUNDLE_FORMAT,
    chain,
    table,
    entries: [...entries],
    signature: {
      algorithm: 'Ed25519',
      key: kid,
      public_key: x,
      value: key.sign(signedText({ chain, table }, entries)),
    },
  };
}

/** One entry on a line: people and `diff` read it. */
export function manifestText({ entries, signature, ...head }: Manifest): string {
  const lines = entries.map((entry) => JSON.stringify(entry));
  const opening = JSON.stringify(head).slice(0, -1);
  return `${opening},"entries":[\n${lines.join(',\n')}\n],"signature":${JSON.stringify(signature)}}\n`;
}

/** Null for a text that is no manifest of this format. */
export function parseManifest(text: string): Manifest | null {
  try {
    const found: unknown = JSON.parse(text);
    return Value.Check(PlainManifest, found) ? found : null;
  } catch {
    return null;
  }
}

/** `format: date` needs a checker that the service does not register; `manifestFaults` checks the days. */
const PlainManifest = Type.Composite([
  Type.Omit(ManifestShape, ['entries']),
  Type.Object({
    entries: Type.Array(
      Type.Composite([Type.Omit(EntryShape, ['day']), Type.Object({ day: Type.String() })]),
    ),
  }),
]);

/** The faults of the log itself, in words; empty for nothing. Its files are not looked at. */
export function manifestFaults(manifest: Manifest): string[] {
  const { entries } = manifest;
  const revisions = new Map<string, number>();
  const faults: string[] = [];
  for (const [at, entry] of entries.entries()) {
    const fault = entryFault(manifest, at, (revisions.get(entry.day) ?? 0) + 1);
    if (fault !== null) faults.push(`entry ${at + 1} (${entry.day}): ${fault}`);
    revisions.set(entry.day, entry.revision);
  }
  return faults;
}

function entryFault(manifest: Manifest, at: number, revision: number): string | null {
  const { entries } = manifest;
  const entry = entries[at];
  if (entry === undefined) return null;
  if (entry.sequence !== at + 1)
    return `it says that it is entry ${entry.sequence}: entries were moved, removed or added`;
  if (entry.previous !== (entries[at - 1]?.hash ?? null))
    return 'its `previous` is not the hash of the entry before it';
  if (!isDay(entry.day)) return 'its day is no day';
  if (entry.revision !== revision)
    return `it is revision ${entry.revision} of its day, and ${revision} comes next`;
  if (entry.file !== fileOf(entry.day, entry.revision))
    return `its file must be ${fileOf(entry.day, entry.revision)}`;
  if (entryHash(manifest, entry) !== entry.hash) return 'its hash is not the hash of what it says';
  return null;
}

/** Whether the signature is one of the key that the manifest itself names. That the key is the service's, others must say. */
export function isSigned(manifest: Manifest): boolean {
  const { entries, signature } = manifest;
  return isSignedBy(signature.public_key, signedText(manifest, entries), signature.value);
}
