import { isIPv4 } from 'node:net';
import { type Static, Type } from '@sinclair/typebox';
import { type Address, isAddress, type Namespace, readAddress } from '../domain/account.ts';
import { USD_CURRENCY } from '../domain/amount.ts';
import {
  type Chain,
  type ChainFacts,
  isChain,
  namespaceOf,
  REGISTRY_ROLES,
  type Registries,
  type TokenFacts,
} from '../domain/chains.ts';
import { KNOWN_CHAINS, OTHER_CHAIN_BLOCK_MS, SOLANA_PACE } from '../domain/known-chains.ts';
import { knownChain } from '../domain/networks.ts';

const TokenSchema = Type.Object(
  {
    address: Type.String(),
    symbol: Type.String({ minLength: 1, maxLength: 16 }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
    name: Type.Optional(Type.String({ description: 'Of its EIP-712 domain. Default: the symbol.' })),
    version: Type.Optional(Type.String({ description: 'Of its EIP-712 domain. Default: 1.' })),
    paidBy: Type.Optional(
      Type.Union(
        [
          Type.Literal('eip3009'),
          Type.Literal('permit2'),
          Type.Literal('spl-token'),
          Type.Literal('token-2022'),
        ],
        {
          description:
            'permit2: the token has no `transferWithAuthorization`. Default: eip3009. On Solana the token program that the mint belongs to; default: spl-token.',
        },
      ),
    ),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description:
          'Its money, ISO 4217; other than USD it has no dollar value without `usdRate`. Default: USD.',
      }),
    ),
    usdRate: Type.Optional(
      Type.Object(
        {
          usd: Type.String({
            pattern: '^[0-9]{1,9}([.][0-9]{1,9})?$',
            description: 'Dollars for one whole token, a decimal number.',
          }),
          source: Type.String({
            minLength: 1,
            maxLength: 200,
            description: 'Where the rate is from.',
          }),
        },
        {
          additionalProperties: false,
          description: 'Fixed rate by which new rows have dollars.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const RegistrySchema = Type.Union([Type.String(), Type.Literal(false)]);

const RegistriesSchema = Type.Object(
  {
    identity: Type.Optional(RegistrySchema),
    reputation: Type.Optional(RegistrySchema),
    validation: Type.Optional(RegistrySchema),
  },
  { additionalProperties: false },
);

/** One entry of `chains`. */
export const ChainSchema = Type.Object(
  {
    chain: Type.String({
      description:
        'Short name (`base`, `solana`) or CAIP-2 name (`eip155:8453`). One that is not built in needs `rpcUrls`, `tokens` and, but on Solana, `finalityDepth`.',
    }),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description: 'Of a chain that is not built in.',
      }),
    ),
    rpcUrls: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'JSON-RPC URLs, tried in turn. http(s) polls, ws(s) subscribes to new heads. Default: the chain’s public RPC. Empty: no node is asked, and the chain holds imported rows alone.',
      }),
    ),
    startBlock: Type.Optional(
      Type.Integer({
        description:
          'First block to index. Negative: that many blocks before the tip, at each start; blocks indexed already are kept.',
      }),
    ),
    sampleDataTo: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Rows up to this block are sample data and not payments of the chain: `/telemetry` says so. For demonstrations.',
      }),
    ),
    explorerUrl: Type.Optional(
      Type.Union([Type.String(), Type.Literal(false)], {
        description:
          'Block explorer that the console links to, over the built-in one: http or https, without a path. false: no links, for a chain of your own.',
      }),
    ),
    tokens: Type.Optional(
      Type.Array(TokenSchema, {
        minItems: 1,
        description: 'Tokens to index in addition to the built-in ones.',
      }),
    ),
    registries: Type.Optional(
      Type.Union([RegistriesSchema, Type.Literal(false)], {
        description:
          'Addresses of the ERC-8004 registries `identity`, `reputation` and `validation`, over the built-in ones; false for one of them, or for all, does not index it.',
      }),
    ),
    logWindowMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Upper bound of blocks per eth_getLogs.' }),
    ),
    requestsPerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Upper bound of JSON-RPC calls per second and URL.',
      }),
    ),
    parallelWindows: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 64, description: 'Backfill windows read at once.' }),
    ),
    completeness: Type.Optional(
      Type.Union(
        [Type.Literal('every-block'), Type.Literal('settlement-blocks'), Type.Literal('fee-payers')],
        {
          description:
            'every-block (default) reads each header, and of each block that may hold a log of ours all logs, which proves that none is missing; settlement-blocks reads only blocks with settlements in the backfill: fewer calls, trusting the node; fee-payers, on Solana, reads only transactions of named fee payers: far fewer bytes, and only a part of the payments.',
        },
      ),
    ),
    portalDataset: Type.Optional(
      Type.Union([Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,63}$' }), Type.Literal(false)], {
        description:
          'Data set of the SQD Portal (`portal.url`) from which final blocks are read, over the built-in one; false reads them over JSON-RPC too. Default: the built-in one, but for a chain whose RPC URLs are all on this machine.',
      }),
    ),
    pollMs: Type.Optional(
      Type.Integer({
        minimum: 20,
        maximum: 600_000,
        description: 'How often the tip is asked for. Default: half the block time.',
      }),
    ),
    finalityDepth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Depth of finality where the node lacks the tag `finalized`.',
      }),
    ),
    relayerFees: Type.Optional(
      Type.Boolean({
        description:
          'Whether gas and fee of each transaction are read from its receipt: one more request for each final block with settlements, old ones included, at most a tenth of `requestsPerSecond`. Default: true.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Each of these adds its problems to `problems` and returns a usable value, so that one run reports every problem. */
export function resolveChainName(name: string, at: string, problems: string[]): Chain {
  return isChain(name) ? name : (knownChain(name) ?? unknownChain(name, at, problems)).chain;
}

/** What a chain that is not built in is taken for. Every node of Solana knows which blocks are final. */
const OTHER_CHAINS = {
  eip155: {
    blockTimeMs: OTHER_CHAIN_BLOCK_MS,
    logWindowMax: 1_000,
    needs: ['rpcUrls', 'tokens', 'finalityDepth'],
  },
  solana: { ...SOLANA_PACE, needs: ['rpcUrls', 'tokens'] },
} as const satisfies Record<Namespace, object>;

/** The built-in facts of a chain, or those that an entry gives of another one. */
export function factsOf(entry: Static<typeof ChainSchema>, at: string, problems: string[]): ChainFacts {
  const known = knownChain(entry.chain);
  if (known !== undefined) return known;
  if (!isChain(entry.chain)) return unknownChain(entry.chain, at, problems);
  const { needs, ...pace } = OTHER_CHAINS[namespaceOf(entry.chain)];
  const needed = needs.filter((key) => entry[key] === undefined);
  if (needed.length > 0)
    problems.push(`${at}: ${entry.chain} is not built in and needs ${needed.join(', ')}`);
  return {
    ...pace,
    chain: entry.chain,
    slug: entry.chain,
    v1Name: null,
    name: entry.name ?? entry.chain,
    explorerUrl: null,
    publicRpcUrls: [],
    tokens: [],
    registries: {},
    finalityDepth: entry.finalityDepth ?? 1,
    portalDataset: null,
  };
}

type TokenEntry = Static<typeof TokenSchema>;

/** A token of an entry. */
export function resolveTokenEntry(
  entry: TokenEntry,
  chain: Chain,
  at: string,
  problems: string[],
): TokenFacts {
  const namespace = namespaceOf(chain);
  const { symbol, decimals, currency = USD_CURRENCY, usdRate } = entry;
  const [usual, other] = PAID_BY[namespace];
  const { paidBy = usual } = entry;
  if (paidBy !== usual && paidBy !== other)
    problems.push(`${at}.paidBy: a token of ${chain} is paid by ${usual} or ${other}`);
  if (usdRate !== undefined && currency === USD_CURRENCY)
    problems.push(`${at}.usdRate: a token of dollars has none`);
  return {
    address: resolveAddress(entry.address, `${at}.address`, problems, namespace),
    symbol,
    decimals,
    currency,
    paidBy,
    domain:
      namespace !== 'eip155' || (paidBy === 'permit2' && entry.name === undefined)
        ? null
        : { name: entry.name ?? symbol, version: entry.version ?? '1' },
    ...(usdRate !== undefined && { usdRate }),
  };
}

/** By which tokens of a namespace are paid; the first is the default. */
const PAID_BY: Readonly<Record<Namespace, readonly [TokenFacts['paidBy'], TokenFacts['paidBy']]>> = {
  eip155: ['eip3009', 'permit2'],
  solana: ['spl-token', 'token-2022'],
};

export function unknownChain(name: string, at: string, problems: string[]): ChainFacts {
  problems.push(
    `${at}: unknown chain "${name}"; known: ${KNOWN_CHAINS.map(({ slug, chain }) => `${slug} (${chain})`).join(', ')}`,
  );
  return KNOWN_CHAINS[0] as ChainFacts; // never used: the problem above ends the load
}

export function resolveAddress(
  text: string,
  at: string,
  problems: string[],
  namespace: Namespace = 'eip155',
): Address {
  const outcome = readAddress(text, namespace);
  if (isAddress(outcome)) return outcome;
  problems.push(
    `${at}: ${outcome === 'checksum' ? 'the EIP-55 checksum is wrong' : 'not an address'}: ${text}`,
  );
  return '' as Address; // never used: the problem above ends the load
}

/** The explorer of an entry, or the built-in one. */
export function resolveExplorer(
  entry: Static<typeof ChainSchema>['explorerUrl'],
  facts: Pick<ChainFacts, 'explorerUrl'>,
  at: string,
  problems: string[],
): string | null {
  if (entry === false) return null;
  if (entry !== undefined && !EXPLORER.test(entry))
    problems.push(`${at}: must be an http or https URL without a path`);
  return (entry ?? facts.explorerUrl)?.replace(/\/$/, '') ?? null;
}

/** What an entry says of completeness, or the default. */
export function resolveCompleteness(
  { completeness = 'every-block' }: Pick<Static<typeof ChainSchema>, 'completeness'>,
  chain: Chain,
  at: string,
  problems: string[],
): ChainConfig['completeness'] {
  if (completeness === 'fee-payers' && namespaceOf(chain) !== 'solana')
    problems.push(
      `${at}.completeness: fee-payers is for Solana; ${chain} has every-block or settlement-blocks`,
    );
  return completeness;
}

const EXPLORER = /^https?:\/\/[\w.:-]+\/?$/;

type RegistriesEntry = Static<typeof ChainSchema>['registries'];

/**
 * Overrides the built-in registries with the configured ones. The decoder identifies a log by its emitter, so a contract with two
 * roles, or one that is also a token, is a problem.
 */
export function resolveRegistries(
  entry: RegistriesEntry,
  chain: { readonly facts: Pick<ChainFacts, 'registries'>; readonly tokens: readonly TokenFacts[] },
  at: string,
  problems: string[],
): Registries {
  if (entry === false) return {};
  const taken = new Set<Address>(chain.tokens.map((token) => token.address));
  const resolved: { -readonly [role in keyof Registries]: Registries[role] } = {};
  for (const role of REGISTRY_ROLES) {
    const given = entry?.[role];
    if (given === false) continue;
    const known = chain.facts.registries[role];
    const address = given === undefined ? known : resolveAddress(given, `${at}.${role}`, problems);
    if (address === undefined) continue;
    if (taken.has(address)) problems.push(`${at}.${role}: ${address} is a token or another registry as well`);
    taken.add(address);
    resolved[role] = address;
  }
  return resolved;
}

export interface PortalConfig {
  /** Without the data set: chains of one Portal share its limit. */
  readonly url: string;
  readonly dataset: string;
  readonly requestsPer10Seconds: number;
}

/**
 * The Portal of a chain. A chain that is only on this machine, as in trials, may have the id of a public one, whose history is not its own: it
 * has no Portal unless the entry names the data set.
 */
export function resolvePortal(
  { url, requestsPer10Seconds }: { readonly url: string | null; readonly requestsPer10Seconds: number },
  entry: Pick<Static<typeof ChainSchema>, 'portalDataset' | 'completeness'>,
  {
    facts,
    rpcUrls,
  }: { readonly facts: Pick<ChainFacts, 'portalDataset'>; readonly rpcUrls: readonly string[] },
): PortalConfig | null {
  // A Portal gives whole blocks, which would be recorded as read in part.
  if (entry.completeness === 'fee-payers') return null;
  const isLocal = rpcUrls.every(isOnThisMachine);
  const dataset = entry.portalDataset ?? (isLocal ? null : facts.portalDataset);
  return url === null || dataset === null || dataset === false
    ? null
    : { url, dataset, requestsPer10Seconds };
}

function isOnThisMachine(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

/** A chain as the program uses it: built-in facts, overridden by the configuration. */
export interface ChainConfig {
  readonly chain: Chain;
  readonly facts: ChainFacts;
  readonly rpcUrls: readonly string[];
  readonly startBlock: number;
  readonly tokens: readonly TokenFacts[];
  readonly registries: Registries;
  readonly logWindowMax: number;
  readonly requestsPerSecond: number;
  readonly parallelWindows: number;
  /** `fee-payers`: on Solana alone. */
  readonly completeness: 'every-block' | 'settlement-blocks' | 'fee-payers';
  readonly pollMs: number;
  readonly finalityDepth: number;
  /** Where final blocks are read from; null: over JSON-RPC, as all others. */
  readonly portal: PortalConfig | null;
  /** Whether receipts are read for gas and fees. */
  readonly relayerFees: boolean;
  /** Rows up to this block are sample data; null: none are. */
  readonly sampleDataTo: number | null;
  /** Without a slash at its end; null: no links. */
  readonly explorerUrl: string | null;
}
