import { readFileSync } from 'node:fs';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** The dated relayer table that ships with the program, as its file spells it. */
const FileSchema = Type.Object({
  source: Type.String(),
  relayers: Type.Array(
    Type.Object({
      facilitator: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
      chain_id: Type.Integer({ minimum: 1 }),
      address: Type.String({ pattern: '^0x[0-9a-f]{40}$' }),
      first_seen: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    }),
  ),
});

export type BuiltInRelayer = Static<typeof FileSchema>['relayers'][number];

/**
 * Reads the table beside this module. Read as a file and not imported: Node 20 and 22 print a warning for every JSON import.
 */
export function readBuiltInRelayers(): readonly BuiltInRelayer[] {
  const text = readFileSync(new URL('./facilitator-relayers.json', import.meta.url), 'utf8');
  return Value.Parse(FileSchema, JSON.parse(text)).relayers;
}

/** How the facilitators of the built-in table write their own names. */
export const FACILITATOR_NAMES: Readonly<Record<string, string>> = {
  '402104': '402104',
  anyspend: 'AnySpend',
  aurracloud: 'AurraCloud',
  bitrefill: 'Bitrefill',
  cascade: 'Cascade',
  codenut: 'CodeNut',
  coinbase: 'Coinbase',
  corbits: 'Corbits',
  daydreams: 'Daydreams',
  dexter: 'Dexter',
  fluxa: 'FluxA',
  heurist: 'Heurist',
  mogami: 'Mogami',
  mrdn: 'Meridian',
  openfacilitator: 'OpenFacilitator',
  openmid: 'OpenMid',
  openx402: 'OpenX402',
  payAI: 'PayAI',
  polymer: 'Polymer',
  primer: 'Primer',
  questflow: 'Questflow',
  relai: 'RelAI',
  thirdweb: 'thirdweb',
  treasure: 'Treasure',
  ultravioletadao: 'Ultravioleta DAO',
  virtuals: 'Virtuals Protocol',
  x402jobs: 'x402 Jobs',
  x402rs: 'x402.rs',
  xecho: 'xEcho',
};

/** ERC-8021 facilitator codes seen on settlements of known relayers. Source: protocol.md 5.1 (four Coinbase settlements). */
export const BUILT_IN_BUILDER_CODES: Readonly<Record<string, string>> = { cdp_facil1: 'coinbase' };
