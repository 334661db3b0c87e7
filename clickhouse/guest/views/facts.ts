import { readCatalogueFile } from '../../../core/config/catalogue.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain, TokenFacts } from '../../../core/domain/chains.ts';
import { FACILITATOR_NAMES } from '../../../core/domain/facilitator-names.ts';
import { type KnownToken, knownTokens } from '../../../core/domain/networks.ts';

/**
 * What the views know without reading a table: names of facilitators and tokens, written into their statements as constants. A
 * look-up in a table would cost every query over the view about a millisecond, because the engine computes the scalar subqueries of
 * a view also where their columns are not selected; a constant costs nothing there.
 */
export interface PublicFacts {
  /** By the id of the facilitator. */
  readonly facilitatorNames: ReadonlyMap<string, string>;
  readonly tokens: readonly KnownToken[];
}

interface NamedFacilitator {
  readonly id: string;
  readonly name: string;
}

/** The built-in tables, with what a configuration and its catalogue file add to them or say differently. */
export function publicFacts(
  configured: {
    readonly catalogue?: {
      readonly facilitators: readonly NamedFacilitator[];
      /** Read here; the configuration overrides it. */
      readonly file?: string | null;
    };
    readonly chains?: readonly { readonly chain: Chain; readonly tokens: readonly TokenFacts[] }[];
  } = {},
): PublicFacts {
  const { catalogue = { facilitators: [], file: null }, chains = [] } = configured;
  const { file = null } = catalogue;
  const listed = file === null ? [] : readCatalogueFile(file).facilitators;
  return {
    facilitatorNames: new Map([
      ...Object.entries(FACILITATOR_NAMES),
      ...[...listed, ...catalogue.facilitators].map(({ id, name }) => [id, name] as const),
    ]),
    tokens: [...knownTokens(chains).values()],
  };
}

/** A text as a literal: names in the configuration are free text. */
export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** The facilitator's display name, or its id when it has none; NULL without a facilitator. */
export function namesText({ facilitatorNames }: PublicFacts, column = 'facilitator'): string {
  const ids = [...facilitatorNames.keys()].map(literal).join(', ');
  const names = [...facilitatorNames.values()].map(literal).join(', ');
  return `nullIf(transform(t.${column}, [${ids}], [${names}]), '')`;
}

/** The decimals of the row's token; NULL when it is not known. `stored`: an address as the column `asset` holds it. */
export function decimalsText({ tokens }: PublicFacts, stored: (address: Address) => string): string {
  const byDecimals = new Map<number, string[]>();
  for (const { chain, address, decimals } of tokens) {
    const keys = byDecimals.get(decimals) ?? [];
    byDecimals.set(decimals, keys);
    keys.push(`(${literal(chain)}, ${stored(address)})`);
  }
  const cases = [...byDecimals].map(
    ([decimals, keys]) => `(t.chain, t.asset) IN (${keys.join(', ')}), toUInt8(${decimals})`,
  );
  return `CAST(multiIf(${[...cases, 'NULL'].join(', ')}), 'Nullable(UInt8)')`;
}
