import { type TSchema, Type } from '@sinclair/typebox';
import { NUMBER_FORMS } from '../../../sandbox/sandbox.ts';
import { type InputOf, invalid, type Param, quoted, readChoice } from '../params.ts';
import { RESULT_PAGE_PARAMS } from '../sql/page.ts';
import { csvNullParam, SQL_FORMATS } from '../sql/params.ts';
import { ownerParam, slugParam, versionParam } from './params.ts';

/** The parameters that every saved query has in addition to its own. */

function choiceParam<Choice extends string, Standard extends Choice | undefined>(
  choices: readonly Choice[],
  standard: Standard,
  texts: { readonly description: string; readonly toolText: string },
): Param<Choice | Standard> {
  const members: TSchema[] = choices.map((choice) => Type.Literal(choice));
  return {
    in: 'query',
    ...texts,
    required: false,
    schema: Type.Union(members, standard === undefined ? {} : { default: standard }),
    read: (raw, name) => (raw === undefined ? standard : readChoice(raw, name, choices)),
  };
}

const ARGUMENTS_MAX_CHARS = 8_192;

const argumentsParam: Param<Readonly<Record<string, unknown>>> = {
  in: 'query',
  description:
    'Values of its parameters by name, as a JSON object: the same as sending each by its name, for callers that cannot.',
  toolText: 'Its parameters by name.',
  required: false,
  schema: Type.String({ maxLength: ARGUMENTS_MAX_CHARS, contentMediaType: 'application/json' }),
  toolSchema: Type.Record(Type.String(), Type.Unknown()),
  example: '{"days":7}',
  read: (raw, name) => {
    if (raw === undefined) return {};
    if (typeof raw === 'string' && raw.length > ARGUMENTS_MAX_CHARS)
      throw invalid(name, `${name} must be at most ${ARGUMENTS_MAX_CHARS} characters, not ${raw.length}.`);
    const value = typeof raw === 'string' ? parsed(raw) : raw;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>; // an object, just checked
    throw invalid(name, `${name} must be a JSON object of values by parameter, not ${quoted(raw)}.`);
  },
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const CALL_PARAMS = {
  owner: ownerParam,
  slug: slugParam,
  version: { ...versionParam, toolText: '' },
  arguments: argumentsParam,
  format: choiceParam(SQL_FORMATS, 'json', {
    description: 'As of `POST /v0/sql`; without it the Accept header chooses.',
    toolText: '',
  }),
  numbers: choiceParam(NUMBER_FORMS, undefined, { description: 'As of `POST /v0/sql`.', toolText: '' }),
  csv_null: { ...csvNullParam, in: 'query' as const },
  ...RESULT_PAGE_PARAMS,
};

export type CallInput = InputOf<typeof CALL_PARAMS>;
