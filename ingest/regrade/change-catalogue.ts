import { raiseGrades } from '../coordinate/fence.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { type CatalogueChange, catalogueChanges } from '../grading/catalogue-changes.ts';
import { publishCatalogue, readPublishedCatalogue } from '../grading/publish.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { highestPass, recordPass } from './passes.ts';
import type { RegradeDeps } from './sweep.ts';

/** A pass that was recorded and published; the rows have yet to follow it. */
export interface RecordedPass {
  /** Null when no grade depends on what changed. */
  readonly pass: number | null;
  readonly changes: readonly CatalogueChange[];
}

/**
 * Replaces the published catalogue. The pass is recorded before anything is published, so that a crash between any two steps
 * ends right: until the sweep of the pass is over (sweep.ts), every start repeats it, with whatever is published by then.
 *
 * `inUse` is the catalogue that this process grades by, where it grades: rows may follow it although it was never published,
 * and then they change with it. `adopt` makes the process grade by the new one and resolves when nothing that was graded by
 * the old one is under way any more.
 */
export async function changeCatalogue(
  deps: Omit<RegradeDeps, 'onProgress'>,
  wanted: Catalogue,
  inUse?: Catalogue,
  adopt: (catalogue: Catalogue) => Promise<void> = () => Promise.resolve(),
): Promise<RecordedPass> {
  const { writer, versions, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const published = await acknowledged(() => readPublishedCatalogue(writer));
  const changes = distinct([
    ...catalogueChanges(published, wanted),
    ...(inUse === undefined ? [] : catalogueChanges(inUse, wanted)),
  ]);
  const pass = changes.length === 0 ? null : await acknowledged(() => recordPass(writer, changes));
  await adopt(wanted);
  await acknowledged(() => publishCatalogue(writer, wanted, versions.next()));
  // From here on the engine refuses what another process grades by an older one. Also when nothing changed: a predecessor may
  // have died before it came to this.
  const newest = pass ?? (await acknowledged(() => highestPass(writer)));
  await acknowledged(() => raiseGrades(writer, newest));
  if (pass !== null) log.info({ pass, ...countsOf(changes) }, 'catalogue changed');
  return { pass, changes };
}

/** The first change of a key counts: it starts at what is published. */
function distinct(changes: readonly CatalogueChange[]): CatalogueChange[] {
  const found = new Map<string, CatalogueChange>();
  for (const change of changes) if (!found.has(keyOf(change))) found.set(keyOf(change), change);
  return [...found.values()];
}

function keyOf(change: CatalogueChange): string {
  switch (change.kind) {
    case 'code':
      return `code ${change.code}`;
    case 'deposit':
      return `deposit ${change.address}`;
    default:
      return `${change.kind} ${change.chain} ${change.address}`;
  }
}

function countsOf(changes: readonly CatalogueChange[]) {
  const count = (kind: CatalogueChange['kind']) => changes.filter((change) => change.kind === kind).length;
  return {
    relayers: count('relayer'),
    payees: count('payee'),
    codes: count('code'),
    deposits: count('deposit'),
  };
}
