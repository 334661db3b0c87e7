import { type SchemaOptions, type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';
import { ADDRESS_PATTERN } from '../../core/domain/account.ts';
import { CHAIN_PATTERN } from '../../core/domain/chains.ts';
import { NAME_SOURCES } from './names.ts';

/** Shapes that several answers share. */

/** One of a fixed list of words: `oneOf(FINALITIES, { title: 'Finality' })`. */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  { title, ...options }: SchemaOptions = {},
): TUnsafe<Value> {
  const named = title === undefined ? {} : { title };
  return Type.Unsafe<Value>({ ...named, type: 'string', enum: [...values], ...options });
}

/** A key of a table of words and their meanings: `keyOf(WARNINGS)`. */
export function keyOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
  options: SchemaOptions = {},
): TUnsafe<Key> {
  return oneOf(Object.keys(table) as Key[], options); // every table is a constant without other keys
}

/** The same value or null, as `type: [x, 'null']`: valid JSON Schema 2020-12, and faster to print than `anyOf`. */
export function orNull<Schema extends TSchema>(
  schema: Schema,
  options: SchemaOptions = {},
): TUnsafe<Static<Schema> | null> {
  const words: unknown = schema['enum'];
  const listed = Array.isArray(words) ? { enum: [...words, null] } : {};
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [schema['type'], 'null'],
    ...listed,
    ...options,
  });
}

export const TimeShape = Type.String({
  title: 'Timestamp',
  format: 'date-time',
  description: 'RFC 3339, UTC, whole seconds.',
});
export const DateShape = Type.String({ format: 'date', description: 'UTC day.' });
export const ChainShape = Type.String({
  title: 'Chain',
  pattern: CHAIN_PATTERN,
  description: 'CAIP-2 name of the chain.',
});
export const AddressShape = Type.String({
  title: 'Address',
  pattern: ADDRESS_PATTERN,
  description: 'Address: lower-case hex of an EVM chain, base58 of Solana.',
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

/** YYYY-MM-DD of the UTC day that a time is in. */
export function dateText(unixSeconds: number): string {
  return timeText(unixSeconds).slice(0, 10);
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

export const NextBeforeShape = orNull(
  Type.String({ description: 'Cursor of the next page, to send as `before`; null at the end of the list.' }),
);

export const NextOffsetShape = orNull(
  Type.Integer({
    minimum: 0,
    description: 'Where the next page starts, to send as `offset`; null at the end of the list.',
  }),
);

export const NameSourceShape = orNull(
  Type.String({
    title: 'NameSource',
    description: `Source of the name: ${NAME_SOURCES.join(', ')} (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name.`,
  }),
);

/** Corrections of a text that the caller sent (core/text-edits.ts). */
export const TextEditsShape = (description: string) =>
  Type.Array(
    Type.Object(
      { from: Type.Integer({ minimum: 0 }), to: Type.Integer({ minimum: 0 }), text: Type.String() },
      { title: 'TextEdit' },
    ),
    {
      description: `${description} Write \`text\` in place of what stands from \`from\` up to \`to\`: UTF-16 code units from 0, in the text that you sent.`,
    },
  );
