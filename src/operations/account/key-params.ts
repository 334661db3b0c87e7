import { Type } from '@sinclair/typebox';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { KEY_RIGHT_TEXTS, KEY_RIGHTS } from '../../../core/domain/key-right.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { oneOf } from '../shapes.ts';

/** The fields that set the limits of a key. */

const LABEL_MAX_CHARS = 100;
const UNITS_PER_DAY_MAX = 1_000_000_000;
const OPERATIONS_MAX = 100;

/** A field of the body; undefined where it was not sent. */
function field<Value>(
  facts: Pick<Param, 'description' | 'toolText' | 'schema' | 'example'>,
  read: (raw: unknown, name: string) => Value,
): Param<Value | undefined> {
  return {
    in: 'body',
    required: false,
    ...facts,
    read: (raw, name) => (raw === undefined ? undefined : read(raw, name)),
  };
}

/** Agents send null for what they leave out, so null takes no limit away: `clear` does. */
export const CLEARABLE = ['units_per_day', 'operations', 'rights', 'expires_at'] as const;

/** Each right and what it allows. */
export const RIGHTS_IN_WORDS = `${KEY_RIGHTS.map((right) => `\`${right}\`: ${KEY_RIGHT_TEXTS[right]}`).join('; ')}.`;

export const KEY_LIMIT_PARAMS = {
  label: field(
    {
      description: `What it is for, 1 to ${LABEL_MAX_CHARS} characters.`,
      toolText: 'What it is for.',
      schema: Type.String({ minLength: 1, maxLength: LABEL_MAX_CHARS }),
      example: 'research agent',
    },
    (raw, name) => {
      const isLabel = typeof raw === 'string' && raw !== '' && raw.length <= LABEL_MAX_CHARS;
      if (isLabel && !hasInvisible(raw)) return raw;
      throw invalid(name, `${name} must be a text of 1 to ${LABEL_MAX_CHARS} printable characters.`);
    },
  ),
  units_per_day: field(
    {
      description: 'Query Units that it may use on a UTC day.',
      toolText: 'Budget of a UTC day.',
      schema: Type.Integer({ minimum: 1, maximum: UNITS_PER_DAY_MAX }),
      example: 200,
    },
    (raw, name) => {
      if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= UNITS_PER_DAY_MAX)
        return raw;
      throw invalid(name, `${name} must be a whole number from 1 to ${UNITS_PER_DAY_MAX}.`);
    },
  ),
  operations: field(
    {
      description:
        'Ids of the operations that it may call, such as `runSql`. What is below `/account` it may always ask.',
      toolText: 'Tools that it may call.',
      schema: Type.Array(Type.String(), { minItems: 1, maxItems: OPERATIONS_MAX }),
    },
    (raw, name) => {
      const isList = Array.isArray(raw) && raw.length > 0 && raw.length <= OPERATIONS_MAX;
      if (isList && raw.every((one) => typeof one === 'string')) return raw.map(operationId);
      throw invalid(name, `${name} must be a list of 1 to ${OPERATIONS_MAX} ids of operations.`);
    },
  ),
  rights: field(
    {
      description: `What it may do beyond reading and spending. ${RIGHTS_IN_WORDS} Not sent: none for a key that has a budget, a list of operations or an end, all for any other.`,
      toolText: `Any of ${KEY_RIGHTS.join(', ')} (saved queries).`,
      schema: Type.Array(oneOf(KEY_RIGHTS), { maxItems: KEY_RIGHTS.length }),
    },
    (raw, name) => {
      const given = Array.isArray(raw) ? KEY_RIGHTS.filter((right) => raw.includes(right)) : [];
      if (Array.isArray(raw) && given.length === raw.length) return given;
      throw invalid(name, `${name} must be a list of ${KEY_RIGHTS.join(', ')}, each at most once.`);
    },
  ),
  expires_at: field(
    {
      description: 'Until when it is valid, RFC 3339.',
      toolText: 'RFC 3339 time.',
      schema: Type.String({ format: 'date-time' }),
      example: '2026-12-31T00:00:00Z',
    },
    (raw, name) => {
      const atMs = typeof raw === 'string' && RFC_3339.test(raw) ? Date.parse(raw) : Number.NaN;
      if (!Number.isNaN(atMs)) return atMs;
      throw invalid(name, `${name} must be a time like 2026-12-31T00:00:00Z, not ${quoted(raw)}.`);
    },
  ),
  manages_keys: field(
    {
      description:
        'Whether it may make, change and revoke keys; not together with a budget or operations. Default of a new key: false.',
      toolText: 'May manage keys.',
      schema: Type.Boolean(),
    },
    (raw, name) => {
      if (typeof raw === 'boolean') return raw;
      throw invalid(name, `${name} must be true or false.`);
    },
  ),
};

export const clearParam = field(
  {
    description: `Limits to take away: some of ${CLEARABLE.join(', ')}.`,
    toolText: `Limits to remove: ${CLEARABLE.join(', ')}.`,
    schema: Type.Array(oneOf(CLEARABLE), { minItems: 1, maxItems: CLEARABLE.length }),
  },
  (raw, name) => {
    const cleared = Array.isArray(raw) ? CLEARABLE.filter((limit) => raw.includes(limit)) : [];
    if (cleared.length > 0 && Array.isArray(raw) && cleared.length === raw.length) return cleared;
    throw invalid(name, `${name} must be a list of ${CLEARABLE.join(', ')}, each once.`);
  },
);

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Agents know operations as tools: `run_sql` is `runSql`. */
function operationId(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
