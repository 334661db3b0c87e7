import { type TSchema, Type } from '@sinclair/typebox';
import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { SQL_TIER_IDS } from '../../../core/domain/plan.ts';
import {
  AUTHOR_PRICE_MAX_QU,
  HANDLE_MAX_CHARS,
  HANDLE_MIN_CHARS,
  isHandle,
  isSlug,
  REFRESH_MAX_SECONDS,
  REFRESH_MIN_SECONDS,
  SLUG_MAX_CHARS,
  skeletonOf,
  VISIBILITIES,
} from '../../../core/domain/saved-query.ts';
import { invalid, type Param, quoted, readChoice } from '../params.ts';
import { SQL_TIERS } from '../prices.ts';
import {
  MAX_AGE_MAX_SECONDS,
  SQL_PARAMETERS_MAX,
  SQL_TEXT_MAX_BYTES,
  STREAMED_ROWS_MAX,
} from '../sql/params.ts';

/** The fields of requests about saved queries. */

const NAME_PATTERN = '^[a-z0-9]+(-[a-z0-9]+)*$';

export const slugParam: Param<string> = {
  in: 'path',
  description: `Name of the query: lower-case letters, digits and single hyphens, at most ${SLUG_MAX_CHARS}.`,
  toolText: 'Its slug.',
  required: true,
  schema: Type.String({ pattern: NAME_PATTERN, maxLength: SLUG_MAX_CHARS }),
  example: 'top-payees',
  read: (raw, name) => {
    if (typeof raw === 'string' && isSlug(raw)) return raw;
    throw invalid(
      name,
      `${name} must be lower-case letters, digits and single hyphens, at most ${SLUG_MAX_CHARS}, not ${quoted(raw)}.`,
    );
  },
};

export const ownerParam: Param<string> = {
  in: 'path',
  description: 'Handle of the organization that owns the query.',
  toolText: 'Its owner.',
  required: true,
  schema: Type.String({ pattern: NAME_PATTERN, minLength: HANDLE_MIN_CHARS, maxLength: HANDLE_MAX_CHARS }),
  example: 'acme',
  read: (raw, name) => {
    if (typeof raw === 'string' && isHandle(raw)) return raw;
    throw invalid(name, `${name} must be a handle: ${HANDLE_WORDS}, not ${quoted(raw)}.`);
  },
};

const HANDLE_WORDS = `${HANDLE_MIN_CHARS} to ${HANDLE_MAX_CHARS} lower-case letters, digits and single hyphens, a letter first`;

export const handleParam: Param<string> = {
  in: 'body',
  description: `The handle: ${HANDLE_WORDS}. It stays for good.`,
  toolText: 'The handle.',
  required: true,
  schema: Type.String({ pattern: NAME_PATTERN, minLength: HANDLE_MIN_CHARS, maxLength: HANDLE_MAX_CHARS }),
  example: 'acme',
  read: (raw, name) => {
    const isOurs = typeof raw === 'string' && skeletonOf(raw) === skeletonOf(DEPLOYMENT_OWNER);
    if (typeof raw === 'string' && isHandle(raw) && !isOurs) return raw;
    throw invalid(name, `${name} must be ${HANDLE_WORDS}, and no name of the service, not ${quoted(raw)}.`);
  },
};

const VERSION_MAX = 1_000_000;

export const versionParam: Param<number | undefined> = {
  in: 'query',
  description: 'One version of the query; the latest without it.',
  toolText: 'A version. Default: the latest.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: VERSION_MAX }),
  example: 2,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const value = typeof raw === 'string' && /^\d{1,7}$/.test(raw) ? Number(raw) : raw;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= VERSION_MAX)
      return value;
    throw invalid(name, `${name} must be the number of a version, from 1, not ${quoted(raw)}.`);
  },
};

export const searchParam: Param<string | undefined> = {
  in: 'query',
  description: 'Only queries whose owner, slug, title or description has each of these words, in any case.',
  toolText: 'Words in its owner, title or description.',
  required: false,
  schema: Type.String({ maxLength: 100 }),
  example: 'payees',
  read: (raw, name) => {
    if (raw === undefined || (typeof raw === 'string' && raw.length <= 100)) return raw;
    throw invalid(name, `${name} must be a text of at most 100 characters, not ${quoted(raw)}.`);
  },
};

/** A field of the body; `standard` where it was not sent. */
export function field<Value, Standard extends Value | undefined>(
  facts: {
    readonly description: string;
    readonly toolText?: string;
    readonly schema: TSchema;
    readonly standard: Standard;
    readonly example?: string | number | boolean;
  },
  read: (raw: unknown, name: string) => Value,
): Param<Value | Standard> {
  const { standard, ...rest } = facts;
  return {
    in: 'body',
    required: false,
    ...rest,
    read: (raw, name) => (raw === undefined ? standard : read(raw, name)),
  };
}

const TITLE_MAX_CHARS = 100;
const DESCRIPTION_MAX_CHARS = 2_000;

export function textField(maxChars: number, what: string, hasLines = false): Param<string> {
  return field(
    {
      description: `${what}, at most ${maxChars} characters.`,
      toolText: '',
      schema: Type.String({ maxLength: maxChars, default: '' }),
      standard: '',
    },
    (raw, name) => readText(raw, name, maxChars, hasLines),
  );
}

/** Shown on pages and to models: no character that a reader cannot see but line ends, where it may have them. */
export function readText(raw: unknown, name: string, maxChars: number, hasLines: boolean): string {
  const isText = typeof raw === 'string' && raw.length <= maxChars;
  if (isText && !hasInvisible(hasLines ? raw.replaceAll('\n', ' ') : raw)) return raw;
  throw invalid(name, `${name} must be a text of at most ${maxChars} printable characters.`);
}

function wholeField<Standard extends number | undefined>(facts: {
  readonly description: string;
  readonly toolText?: string;
  readonly min: number;
  readonly max: number;
  readonly standard: Standard;
  readonly example?: number;
}): Param<number | Standard> {
  const { min, max, standard, ...rest } = facts;
  return field(
    {
      ...rest,
      standard: standard as number | Standard,
      schema: Type.Integer({
        minimum: min,
        maximum: max,
        ...(standard === undefined ? {} : { default: standard }),
      }),
    },
    (raw, name) => {
      if (typeof raw === 'number' && Number.isInteger(raw) && raw >= min && raw <= max) return raw;
      throw invalid(name, `${name} must be a whole number from ${min} to ${max}, not ${quoted(raw)}.`);
    },
  ) as Param<number | Standard>; // of the standard, or what was read
}

/** What its author says about a parameter. `default` and `example` are read once the type is known. */
export interface ToldParameter {
  readonly name: string;
  readonly description: string;
  readonly standard: unknown;
  readonly example: unknown;
}

/** Parameters of every call: a placeholder cannot have one of these names. */
export const TAKEN_NAMES = [
  'owner',
  'slug',
  'version',
  'format',
  'numbers',
  'limit',
  'offset',
  'token',
  'as_of',
  'max_age',
  'arguments',
] as const;

const PLACEHOLDER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const TOLD_FIELDS: readonly string[] = ['description', 'default', 'example'];

const parametersParam: Param<readonly ToldParameter[]> = {
  in: 'body',
  description: `What each placeholder \`{name:Type}\` of the text means, by its name: \`description\`, and \`default\` or \`example\`. One without a default must be sent with every call; its example is what the query is judged with. The types are those of the text: numbers, texts, days, times, booleans, and lists of these.`,
  toolText: 'By placeholder: {description, default}, or {description, example} where callers must send it.',
  required: false,
  schema: Type.Record(
    Type.String(),
    Type.Object(
      {
        description: Type.Optional(Type.String()),
        default: Type.Optional(Type.Unknown()),
        example: Type.Optional(Type.Unknown()),
      },
      { title: 'SaveQueryParameter' },
    ),
  ),
  read: (raw, name) => {
    if (raw === undefined) return [];
    if (!isObject(raw)) throw invalid(name, `${name} must be an object by placeholder, not ${quoted(raw)}.`);
    const entries = Object.entries(raw);
    if (entries.length > SQL_PARAMETERS_MAX)
      throw invalid(name, `${name} has ${entries.length} entries; at most ${SQL_PARAMETERS_MAX} are taken.`);
    return entries.map(([placeholder, told]) => readTold(placeholder, told, name));
  },
};

function readTold(placeholder: string, told: unknown, name: string): ToldParameter {
  if (!PLACEHOLDER.test(placeholder))
    throw invalid(
      name,
      `${name} names ${quoted(placeholder)}, which no placeholder can: use letters, digits and _.`,
    );
  if (!isObject(told)) throw invalid(name, `${name}.${placeholder} must be an object, not ${quoted(told)}.`);
  const odd = Object.keys(told).find((one) => !TOLD_FIELDS.includes(one));
  if (odd !== undefined)
    throw invalid(name, `${name}.${placeholder} has ${quoted(odd)}; it takes ${TOLD_FIELDS.join(', ')}.`);
  const { description = '', default: standard, example } = told;
  return {
    name: placeholder,
    description: readText(description, name, SQL_PARAMETER_TEXT_MAX_CHARS, true),
    standard: standard ?? undefined,
    example: example ?? undefined,
  };
}

const SQL_PARAMETER_TEXT_MAX_CHARS = 500;

export function isObject(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

const LARGEST_BUDGET = Math.max(...SQL_TIERS.map(({ jobQu }) => jobQu));
const FRESHNESS_SECONDS = 300;

/** The body of a PUT. A field that is not sent has its default, also where an earlier version had another value. */
export const SAVE_PARAMS = {
  slug: slugParam,
  sql: {
    in: 'body',
    description: 'One SELECT as of `POST /v0/sql`, with placeholders `{name:Type}` for its parameters.',
    toolText: 'One SELECT as of run_sql; {name:Type} for each parameter.',
    required: true,
    schema: Type.String({ maxLength: SQL_TEXT_MAX_BYTES }),
    example:
      'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL {days:UInt16} DAY GROUP BY payee ORDER BY usd DESC LIMIT 10',
    read: (raw, name) => {
      if (typeof raw !== 'string')
        throw invalid(name, `${name} must be the text of the query, not ${quoted(raw)}.`);
      // Others read it before they pay. Too long a text is refused as one.
      if (raw.length <= SQL_TEXT_MAX_BYTES && hasInvisible(raw.replace(/[\t\r\n]/g, ' ')))
        throw invalid(name, `${name} holds control or other invisible characters: write them with char().`);
      return raw;
    },
  } satisfies Param<string>,
  parameters: parametersParam,
  title: textField(TITLE_MAX_CHARS, 'A name for people'),
  description: { ...textField(DESCRIPTION_MAX_CHARS, 'What it answers', true), toolText: 'What it answers.' },
  tier: field(
    {
      description: 'As of `POST /v0/sql`; the plan of the organization must have it.',
      toolText: '',
      schema: Type.Union(
        SQL_TIER_IDS.map((tier) => Type.Literal(tier)),
        { default: 'standard' },
      ),
      standard: 'standard' as const,
    },
    (raw, name) => readChoice(raw, name, SQL_TIER_IDS),
  ),
  max_qu: wholeField({
    description:
      'The most that one run may cost, in Query Units, and so the time that it has: 5 s each. A call waits for as many as the tier gives a call; a refresh may use all of them, like a job.',
    toolText: '',
    min: 1,
    max: LARGEST_BUDGET,
    standard: 1,
    example: 1,
  }),
  max_rows: wholeField({
    description:
      'Rows that a result has at most: answers of more say `truncated`. Without it a run with more than 1,000,000 rows fails.',
    toolText: '',
    min: 1,
    max: STREAMED_ROWS_MAX,
    standard: STREAMED_ROWS_MAX,
  }),
  freshness_seconds: wholeField({
    description: `How old an answer may be; until then it is given from the kept result. Default: ${FRESHNESS_SECONDS}, with a refresh twice its time.`,
    toolText: 'How old an answer may be.',
    min: 0,
    max: MAX_AGE_MAX_SECONDS,
    standard: undefined,
    example: 300,
  }),
  visibility: field(
    {
      description:
        '`private`: only the keys of the organization call it. `unlisted`: whoever has its address. `public`: it is listed, too.',
      toolText: 'Who may call it.',
      schema: Type.Union(
        VISIBILITIES.map((one) => Type.Literal(one)),
        { default: 'private' },
      ),
      standard: 'private' as const,
    },
    (raw, name) => readChoice(raw, name, VISIBILITIES),
  ),
  hide_text: field(
    {
      description: 'Whether only the organization itself sees the text.',
      toolText: '',
      schema: Type.Boolean({ default: false }),
      standard: false,
    },
    (raw, name) => {
      if (typeof raw === 'boolean') return raw;
      throw invalid(name, `${name} must be true or false, not ${quoted(raw)}.`);
    },
  ),
  price_qu: wholeField({
    description:
      'Query Units that the organization gets for each call of others, on top of what the run costs.',
    toolText: 'Units for you per call of others.',
    min: 0,
    max: AUTHOR_PRICE_MAX_QU,
    standard: 0,
    example: 2,
  }),
  refresh_seconds: wholeField({
    description: `Runs it with the defaults of its parameters every so many seconds (15 minutes to a week), so that calls find a result. Each run is charged like a call of the key that saved it: within its budget, and until it ends. Without it only calls run it.`,
    toolText: '',
    min: REFRESH_MIN_SECONDS,
    max: REFRESH_MAX_SECONDS,
    standard: undefined,
    example: 3_600,
  }),
};

export const STANDARD_FRESHNESS_SECONDS = FRESHNESS_SECONDS;
