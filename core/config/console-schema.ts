import { Type } from '@sinclair/typebox';

export const ConsoleSchema = Type.Object(
  {
    visitorKey: Type.Union([Type.String({ pattern: '^six_live_[0-9A-Za-z]{43}$' }), Type.Null()], {
      default: null,
      description:
        'API key that the web console lends to visitors without one. Everybody who opens /console can read it: give it an organization of its own, with as many units as you give away. Null: visitors see what is free, and enter a key for the rest.',
    }),
  },
  { default: {}, additionalProperties: false },
);
