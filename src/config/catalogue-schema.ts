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
          'Where it answers /verify and /settle. Its /supported is asked every hour for the addresses that it relays with.',
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
};

/** A catalogue file: what the configuration may say too, in a file of its own. */
export const CatalogueFileSchema = Type.Object(sectionProperties, { additionalProperties: false });

/** The key `catalogue`. */
export const CatalogueSchema = Type.Object(
  {
    ...sectionProperties,
    file: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description:
        'A JSON file with further `facilitators` and `payees`, read again when it changes; the configuration wins over it.',
    }),
  },
  { default: {}, additionalProperties: false },
);
