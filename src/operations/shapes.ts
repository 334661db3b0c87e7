import { type TSchema, Type } from '@sinclair/typebox';
import { NAME_SOURCES, type NameSource } from './names.ts';

/** Shapes that several answers share. Nullable scalars are `type: [x, null]`: valid JSON Schema 2020-12 and fast to print. */

export function nullable(schema: TSchema): TSchema {
  return Type.Unsafe({ ...schema, type: [schema['type'], 'null'] });
}

export const TimeShape = Type.String({
  title: 'Timestamp',
  format: 'date-time',
  description: 'RFC 3339, UTC, whole seconds.',
});
export const ChainShape = Type.String({
  title: 'Chain',
  pattern: '^eip155:[0-9]+$',
  description: 'CAIP-2 name of the chain.',
});
export const AddressShape = Type.String({
  title: 'Address',
  pattern: '^0x[0-9a-f]{40}$',
  description: 'Lower-case address.',
});
export const CountShape = Type.Integer({ minimum: 0 });
export const UsdShape = Type.Number({
  title: 'Usd',
  description: 'Dollars, at most six decimals, from exact decimals.',
});

/** RFC 3339 in UTC with whole seconds. */
export function timeText(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1_000).toISOString().slice(0, 19)}Z`;
}

export function timeTextOrNull(unixSeconds: number | null): string | null {
  return unixSeconds === null ? null : timeText(unixSeconds);
}

/** The last one made: every answer says when it was given, and thousands are given within a second. */
let latest = { second: 0, text: timeText(0) };

export function nowText(nowMs: number): string {
  const second = Math.floor(nowMs / 1_000);
  if (second !== latest.second) latest = { second, text: timeText(second) };
  return latest.text;
}

export const NextBeforeShape = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Cursor of the next page, to send as `before`; null at the end of the list.',
});

export const NextOffsetShape = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 0,
  description: 'Where the next page starts, to send as `offset`; null at the end of the list.',
});

export const NameSourceShape = Type.Unsafe<NameSource | null>({
  title: 'NameSource',
  type: ['string', 'null'],
  description: `Who says the name: ${NAME_SOURCES.join(', ')} (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name.`,
});
