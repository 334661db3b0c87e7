import { type Static, Type } from '@sinclair/typebox';
import type { Address } from '../domain/account.ts';
import { type Chain, namespaceOf } from '../domain/chains.ts';
import { resolveAddress, resolveChainName } from './chains.ts';
import { checked, readJsonObject } from './checked-file.ts';
import { configProblems, hideSecrets } from './problem.ts';

/** One entry of `catalogue.facilitators`. */
export const FacilitatorSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    builderCodes: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,32}$' }))),
    url: Type.Optional(
      Type.String({
        description:
          'Where it answers /verify and /settle. Every hour its /supported is asked for the addresses that it relays with, and its /discovery/resources for the endpoints that it lists.',
      }),
    ),
    relayers: Type.Array(
      Type.Object(
        {
          chain: Type.String(),
          address: Type.String(),
          firstSeen: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
        },
        { additionalProperties: false },
      ),
      { default: [] },
    ),
  },
  { additionalProperties: false },
);

/** One entry of `catalogue.payees`. */
export const PayeeSchema = Type.Object(
  {
    chain: Type.String(),
    address: Type.String(),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    resource: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { additionalProperties: false },
);

const sectionProperties = {
  facilitators: Type.Array(FacilitatorSchema, {
    default: [],
    description: 'Named facilitators in addition to the built-in dated table.',
  }),
  payees: Type.Array(PayeeSchema, { default: [], description: 'payTo addresses of known resources.' }),
  wellKnown: Type.Array(Type.String(), {
    default: [],
    description:
      'Origins of sellers, such as `https://api.example.com`, whose /.well-known/x402 is read every hour for endpoints of their own.',
  }),
};

/** A catalogue file: the same keys as in the configuration, and endpoints in the format of a facilitator's listing. */
export const CatalogueFileSchema = Type.Object(
  { ...sectionProperties, endpoints: Type.Optional(Type.Array(Type.Unknown())) },
  { additionalProperties: false },
);

/** The key `catalogue`. */
export const CatalogueSchema = Type.Object(
  {
    ...sectionProperties,
    publicFacilitators: Type.Boolean({
      default: true,
      description:
        'Whether the public APIs of known facilitators are asked for their signers and listings too, every hour, where Base is indexed (ingest/grading/public-facilitators.ts has their URLs). An entry of `facilitators` with the same id replaces one.',
    }),
    acceptProposalsAbove: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      default: null,
      description:
        'Above this score a proposed relayer counts as a facilitator without an operator: its payments are then graded as proven under an id of its own. Null: never, `settlement-index facilitators review` lists them. What the score is: docs/methodology.md, "Proposed relayers".',
    }),
    file: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description:
        'A JSON file with further `facilitators`, `payees` and `wellKnown`, and with `endpoints` (items as /discovery/resources lists them), read again when it changes; the configuration wins over it.',
    }),
  },
  { default: {}, additionalProperties: false },
);

/** Reads a catalogue file. Throws `UserError` with everything that is wrong with it. */
export function readCatalogueFile(path: string): CatalogueSection {
  const problems: string[] = [];
  const section = resolveSection(checked(CatalogueFileSchema, readJsonObject(path)), '', problems);
  if (problems.length > 0)
    throw configProblems(problems.map((problem) => `${path}: ${hideSecrets(problem)}`));
  return section;
}

/** Only the key `catalogue` of a configuration file. A running service reloads no other key. */
export function readConfiguredCatalogue(path: string): CatalogueSection {
  const problems: string[] = [];
  const raw = checked(CatalogueSchema, readJsonObject(path)['catalogue'] ?? {});
  const section = resolveSection(raw, 'catalogue.', problems);
  if (problems.length > 0) throw configProblems(problems.map(hideSecrets));
  return section;
}

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
      ...resolveAccount(entry, `${at}payees.${index}`, problems),
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
      ...resolveAccount(relayer, `${at}.relayers.${index}`, problems),
      firstSeen: relayer.firstSeen,
    })),
  };
}

/** An account of a chain, written as accounts of its namespace are. */
function resolveAccount(
  entry: { readonly chain: string; readonly address: string },
  at: string,
  problems: string[],
): { readonly chain: Chain; readonly address: Address } {
  const chain = resolveChainName(entry.chain, `${at}.chain`, problems);
  return { chain, address: resolveAddress(entry.address, `${at}.address`, problems, namespaceOf(chain)) };
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

export interface FacilitatorConfig {
  readonly id: string;
  readonly name: string;
  readonly builderCodes: readonly string[];
  /** Its API, which may hold credentials: never logged. */
  readonly url?: string;
  readonly relayers: readonly {
    readonly chain: Chain;
    readonly address: Address;
    readonly firstSeen: string;
  }[];
}

export interface PayeeConfig {
  readonly chain: Chain;
  readonly address: Address;
  readonly name: string;
  readonly resource: string;
}

/** What one source says about facilitators and payees. */
export interface CatalogueSection {
  readonly facilitators: readonly FacilitatorConfig[];
  readonly payees: readonly PayeeConfig[];
  /** Origins whose /.well-known/x402 is read. */
  readonly wellKnown?: readonly string[];
  /** Items as a bazaar lists them, not yet parsed. Only a catalogue file can have them. */
  readonly endpoints?: readonly unknown[];
}
