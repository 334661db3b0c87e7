import type { Static } from '@sinclair/typebox';
import type { CatalogueFileSchema, FacilitatorSchema } from './catalogue-schema.ts';
import type { CatalogueSection, FacilitatorConfig } from './config.ts';
import { resolveAddress, resolveChainName } from './resolve-names.ts';

/** Checks the names of a section; `at` is the path of the section in messages, empty or ending in a dot. */
export function resolveSection(
  section: Static<typeof CatalogueFileSchema>,
  at: string,
  problems: string[],
): CatalogueSection {
  return {
    facilitators: section.facilitators.map((entry, index) =>
      resolveFacilitator(entry, `${at}facilitators.${index}`, problems),
    ),
    payees: section.payees.map((entry, index) => ({
      chain: resolveChainName(entry.chain, `${at}payees.${index}.chain`, problems),
      address: resolveAddress(entry.address, `${at}payees.${index}.address`, problems),
      name: entry.name ?? '',
      resource: entry.resource ?? '',
    })),
    wellKnown: section.wellKnown.map((origin, index) =>
      resolveOrigin(origin, `${at}wellKnown.${index}`, problems),
    ),
    ...(section.endpoints === undefined ? {} : { endpoints: section.endpoints }),
  };
}

function resolveFacilitator(
  entry: Static<typeof FacilitatorSchema>,
  at: string,
  problems: string[],
): FacilitatorConfig {
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    builderCodes: entry.builderCodes ?? [],
    ...(entry.url === undefined ? {} : { url: resolveUrl(entry.url, `${at}.url`, problems) }),
    relayers: entry.relayers.map((relayer, index) => ({
      chain: resolveChainName(relayer.chain, `${at}.relayers.${index}.chain`, problems),
      address: resolveAddress(relayer.address, `${at}.relayers.${index}.address`, problems),
      firstSeen: relayer.firstSeen,
    })),
  };
}

function resolveUrl(url: string, at: string, problems: string[]): string {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    problems.push(`${at}: must be an http or https URL`);
  }
  return url;
}

/** The origin as browsers spell it. */
function resolveOrigin(text: string, at: string, problems: string[]): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isOrigin =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.href === `${url.origin}/`;
  if (!isOrigin) problems.push(`${at}: must be an http or https origin, without a path`);
  return url?.origin ?? text;
}
