import { Type } from '@sinclair/typebox';

/** One entry of `catalogue.facilitators`. */
export const FacilitatorSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    builderCodes: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,32}$' }))),
    relayers: Type.Array(
      Type.Object(
        {
          chain: Type.String(),
          address: Type.String(),
          firstSeen: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
        },
        { additionalProperties: false },
      ),
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
