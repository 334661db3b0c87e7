import { statSync } from 'node:fs';
import {
  type CatalogueSection,
  type PayeeConfig,
  readCatalogueFile,
  readConfiguredCatalogue,
} from '../../core/config/catalogue.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { UserError } from '../../core/user-error.ts';
import type { Listings } from '../endpoints/sources.ts';
import type { AcceptedRelayer } from '../proposals/decisions.ts';
import { buildCatalogue, type Catalogue, refusedSigners, type SupportedSigner } from './catalogue.ts';
import { publicFacilitators } from './public-facilitators.ts';

/** The current sources of a catalogue. */
export interface CatalogueSources {
  /**
   * The catalogue of the files as they are now with the given signers, payees of listed endpoints and accepted relayers; null when a file cannot be used: that is logged
   * once until it changes, and the old catalogue stays in force.
   */
  read(
    signers: readonly SupportedSigner[],
    listed?: readonly PayeeConfig[],
    accepted?: readonly AcceptedRelayer[],
  ): Catalogue | null;
  /** Facilitators to ask for their signers, as of the last successful read. */
  facilitators(): CatalogueSection['facilitators'];
  /** Where endpoints are listed, as of the last successful read; null before the first. */
  listings(): Listings | null;
}

/** One shared empty list, because lists are compared by identity. */
const NO_PAYEES: readonly PayeeConfig[] = [];
const NO_ENDPOINTS: readonly unknown[] = [];

type SourcesConfig = Pick<Config, 'configFile' | 'catalogue'>;

/** Reads the files again only when they or the signers have changed. */
export function createCatalogueSources(config: SourcesConfig, log: Log): CatalogueSources {
  let lastLogged = '';
  let last: {
    readonly key: string;
    readonly listed: readonly PayeeConfig[];
    readonly catalogue: Catalogue | null;
  } | null = null;
  let listings: Listings | null = null;
  let facilitators: CatalogueSection['facilitators'] = config.catalogue.facilitators;
  const logOnce = (key: string, say: () => void): void => {
    if (key !== lastLogged) say();
    lastLogged = key;
  };
  const build = (learned: {
    readonly signers: readonly SupportedSigner[];
    readonly listed: readonly PayeeConfig[];
    readonly accepted: readonly AcceptedRelayer[];
  }): Catalogue | null => {
    try {
      const section =
        config.configFile === null ? config.catalogue : readConfiguredCatalogue(config.configFile);
      const file = config.catalogue.file === null ? undefined : readCatalogueFile(config.catalogue.file);
      const configured = [...(file?.facilitators ?? []), ...section.facilitators];
      const open = publicFacilitators(config.catalogue, configured);
      const whole = { ...section, facilitators: [...section.facilitators, ...open] };
      const catalogue = buildCatalogue(whole, {
        ...(file === undefined ? {} : { file }),
        ...learned,
      });
      facilitators = [...configured, ...open];
      listings = {
        facilitators,
        wellKnown: [...(file?.wellKnown ?? []), ...(section.wellKnown ?? [])],
        endpoints: file === undefined ? null : (file.endpoints ?? NO_ENDPOINTS),
      };
      const refused = refusedSigners(catalogue, learned.signers);
      logOnce(JSON.stringify(refused), () => {
        for (const { facilitator, chain, address } of refused)
          log.warn(
            { facilitator, chain, address },
            'a signer of /supported is the relayer of another facilitator: ignored',
          );
      });
      return catalogue;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      logOnce(error.message, () =>
        log.error({ problems: error.problems }, 'the catalogue cannot be read; the old one stays in force'),
      );
      return null;
    }
  };
  return {
    facilitators: () => facilitators,
    listings: () => listings,
    read(signers, listed = NO_PAYEES, accepted = []) {
      // Taken before reading, so that a file that changes during the read is read again.
      const stamps = [stampOf(config.configFile), stampOf(config.catalogue.file)];
      const key = JSON.stringify([stamps, signers, accepted]);
      // Compares payees of endpoints by the identity of their list: serializing tens of thousands every second would be expensive.
      if (last?.key !== key || last.listed !== listed)
        last = { key, listed, catalogue: build({ signers, listed, accepted }) };
      return last.catalogue;
    },
  };
}

/** Changes whenever the file does: editors replace the file or change its modification time, to the nanosecond. */
function stampOf(path: string | null): string {
  if (path === null) return 'none';
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'missing' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}
