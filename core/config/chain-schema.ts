import { Type } from '@sinclair/typebox';

const TokenSchema = Type.Object(
  {
    address: Type.String(),
    symbol: Type.String({ minLength: 1, maxLength: 16 }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
    name: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
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
    chain: Type.String({ description: 'Short name (`base`) or CAIP-2 name (`eip155:8453`).' }),
    rpcUrls: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'JSON-RPC URLs, tried in turn. http(s) polls, ws(s) subscribes to new heads. Default: the chain’s public RPC. Empty: no node is asked, and the chain holds what is imported.',
      }),
    ),
    startBlock: Type.Optional(
      Type.Integer({
        description:
          'First block to index. Negative: that many blocks before the tip, at each start; what is indexed already is kept.',
      }),
    ),
    sampleDataTo: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Rows up to this block are sample data and not payments of the chain: `/telemetry` says so. For demonstrations.',
      }),
    ),
    tokens: Type.Optional(
      Type.Array(TokenSchema, {
        minItems: 1,
        description: 'EIP-3009 tokens to index beside the built-in ones.',
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
      Type.Union([Type.Literal('every-block'), Type.Literal('settlement-blocks')], {
        description:
          'every-block (default) reads each header and proves with its bloom filter that no log is missing; settlement-blocks reads only blocks with settlements in the backfill: fewer calls, trusting the node.',
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
  },
  { additionalProperties: false },
);
