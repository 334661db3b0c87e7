import type { Address } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { CatalogueEntries } from './catalogue.ts';

/** One key of a catalogue under which rows may be graded differently; `before` and `after` are null where it is not listed. */
export type CatalogueChange = RelayerChange | PayeeChange | CodeChange;

export interface RelayerChange {
  readonly kind: 'relayer';
  readonly chain: Chain;
  readonly address: Address;
  readonly before: DatedOwner | null;
  readonly after: DatedOwner | null;
}

export interface PayeeChange {
  readonly kind: 'payee';
  readonly chain: Chain;
  readonly address: Address;
  readonly before: true | null;
  readonly after: true | null;
}

export interface CodeChange {
  readonly kind: 'code';
  readonly code: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface DatedOwner {
  readonly facilitator: string;
  readonly firstSeen: string;
}

/** The differences that affect grades. Excludes names and sources, on which no grade depends. */
export function catalogueChanges(before: CatalogueEntries, after: CatalogueEntries): CatalogueChange[] {
  return [
    ...changedRelayers(before.relayers, after.relayers),
    ...changedPayees(before.payees, after.payees),
    ...changedCodes(before.builderCodes, after.builderCodes),
  ];
}

function changedRelayers(
  before: CatalogueEntries['relayers'],
  after: CatalogueEntries['relayers'],
): RelayerChange[] {
  const [old, now] = [byKey(before), byKey(after)];
  return bothOf(old, now).flatMap(([was, is, { chain, address }]): RelayerChange[] => {
    if (was?.facilitator === is?.facilitator && was?.firstSeen === is?.firstSeen) return [];
    return [{ kind: 'relayer', chain, address, before: ownerOf(was), after: ownerOf(is) }];
  });
}

function ownerOf(entry: CatalogueEntries['relayers'][number] | undefined): DatedOwner | null {
  return entry === undefined ? null : { facilitator: entry.facilitator, firstSeen: entry.firstSeen };
}

function changedPayees(before: CatalogueEntries['payees'], after: CatalogueEntries['payees']): PayeeChange[] {
  return bothOf(byKey(before), byKey(after)).flatMap(([was, is, { chain, address }]): PayeeChange[] =>
    (was === undefined) === (is === undefined)
      ? []
      : [{ kind: 'payee', chain, address, before: was ? true : null, after: is ? true : null }],
  );
}

function changedCodes(
  before: CatalogueEntries['builderCodes'],
  after: CatalogueEntries['builderCodes'],
): CodeChange[] {
  const codes = new Set([...before.keys(), ...after.keys()]);
  return [...codes].flatMap((code): CodeChange[] => {
    const [was, is] = [before.get(code) ?? null, after.get(code) ?? null];
    return was === is ? [] : [{ kind: 'code', code, before: was, after: is }];
  });
}

type Placed = { readonly chain: Chain; readonly address: Address };

function byKey<Entry extends Placed>(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [`${entry.chain} ${entry.address}`, entry]));
}

function bothOf<Entry extends Placed>(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
): [Entry | undefined, Entry | undefined, Entry][] {
  const all = new Map([...before, ...after]);
  return [...all].map(([key, entry]) => [before.get(key), after.get(key), entry]);
}
