import type { FacilitatorConfig } from '../../core/config/catalogue.ts';
import type { Config } from '../../core/config/config.ts';
import { FACILITATOR_NAMES } from '../../core/domain/facilitator-names.ts';

/**
 * The public APIs of facilitators that settle on Base, each by the id that the relayer table has: asked for their signers (/supported) and
 * for what they list (/discovery/resources). None takes a key. Sources: docs.cdp.coinbase.com (Bazaar) for coinbase; for the others
 * Merit-Systems/x402scan packages/external/facilitators at e85e6727, read 2026-11-28.
 */
const PUBLIC_URLS: Readonly<Record<string, string>> = {
  coinbase: 'https://api.cdp.coinbase.com/platform/v2/x402',
  payAI: 'https://facilitator.payai.network',
  dexter: 'https://x402.dexter.cash',
  anyspend: 'https://mainnet.anyspend.com/x402',
  aurracloud: 'https://x402-facilitator.aurracloud.com',
  fluxa: 'https://facilitator.fluxapay.xyz',
  relai: 'https://facilitator.x402.fi',
  ultravioletadao: 'https://facilitator.ultravioletadao.xyz',
  x402rs: 'https://facilitator.x402.rs',
  corbits: 'https://facilitator.corbits.dev',
  daydreams: 'https://facilitator.daydreams.systems',
  heurist: 'https://facilitator.heurist.xyz',
  openx402: 'https://open.x402.host',
  openfacilitator: 'https://pay.openfacilitator.io',
  treasure: 'https://x402.treasure.lol/facilitator',
};

/** Those that the operator has not configured: an entry of the same id replaces the built-in one. None where they are turned off. */
export function publicFacilitators(
  { publicFacilitators: isOn }: Pick<Config['catalogue'], 'publicFacilitators'>,
  configured: readonly FacilitatorConfig[],
): readonly FacilitatorConfig[] {
  if (!isOn) return [];
  const own = new Set(configured.map(({ id }) => id));
  return Object.entries(PUBLIC_URLS)
    .filter(([id]) => !own.has(id))
    .map(([id, url]) => ({ id, name: FACILITATOR_NAMES[id] ?? id, builderCodes: [], url, relayers: [] }));
}
