import { Type } from '@sinclair/typebox';

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
    description: 'Named facilitators beside the built-in dated table.',
  }),
  payees: Type.Array(PayeeSchema, { default: [], description: 'payTo addresses of known resources.' }),
  wellKnown: Type.Array(Type.String(), {
    default: [],
    description:
      'Origins of sellers, such as `https://api.example.com`, whose /.well-known/x402 is read every hour for endpoints of their own.',
  }),
};

/** A catalogue file: what the configuration may say too, and endpoints, whose items are read as those of a facilitator are. */
export const CatalogueFileSchema = Type.Object(
  { ...sectionProperties, endpoints: Type.Optional(Type.Array(Type.Unknown())) },
  { additionalProperties: false },
);

/** The key `catalogue`. */
export const CatalogueSchema = Type.Object(
  {
    ...sectionProperties,
    file: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description:
        'A JSON file with further `facilitators`, `payees` and `wellKnown`, and with `endpoints` (items as /discovery/resources lists them), read again when it changes; the configuration wins over it.',
    }),
  },
  { default: {}, additionalProperties: false },
);
