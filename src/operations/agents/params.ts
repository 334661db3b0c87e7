import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/address.ts';
import { displayText } from '../../../core/domain/display-text.ts';
import { fail } from '../../../core/errors.ts';
import { ADDRESS_SCHEMA, capabilityFilter, type Param, quoted, readAddressParam } from '../params.ts';
import { countWords } from './words.ts';

/** Parameters of the lists of agents. */

const QUERY_MAX_CHARS = 100;
/** The engine's text index looks for 64 words at most. */
const WORDS_MAX = 32;
const AGENT_ID_MAX = 2n ** 256n - 1n;

function invalid(parameter: string, detail: string): Error {
  return fail('invalid_parameter', { parameter, detail });
}

/** The phrase as names and descriptions are stored: what was done to them for display is done to it. */
export const agentQueryParam: Param<string | undefined> = {
  in: 'query',
  description: `Words that must all be words of the name or the description, whole and in any case. A word is a run of letters and digits of any script; of Chinese and Japanese each letter is one. Up to ${QUERY_MAX_CHARS} characters and ${WORDS_MAX} words; an empty text filters nothing, one without a word is refused.`,
  toolText: 'Whole words that must all be in the name or the description.',
  required: false,
  schema: Type.String({ maxLength: QUERY_MAX_CHARS }),
  example: 'weather',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw !== 'string' || [...raw].length > QUERY_MAX_CHARS)
      throw invalid(name, `${name} must be a text of at most ${QUERY_MAX_CHARS} characters.`);
    if (raw.trim() === '') return undefined;
    const phrase = displayText(raw, QUERY_MAX_CHARS);
    const words = countWords(phrase);
    if (words === 0) throw invalid(name, `${name} has no word: letters or digits.`);
    if (words > WORDS_MAX) throw invalid(name, `${name} has more than ${WORDS_MAX} words.`);
    return phrase;
  },
};

/** Both answers filter; without the parameter nothing does. */
function eitherParam(description: string, toolText: string): Param<boolean | undefined> {
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.Union(['true', 'false', '1', '0'].map((word) => Type.Literal(word))),
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      if (raw === true || raw === 'true' || raw === '1') return true;
      if (raw === false || raw === 'false' || raw === '0') return false;
      throw invalid(name, `${name} must be one of true, false, 1, 0, not ${quoted(raw)}.`);
    },
  };
}

export const x402DeclaredParam = eitherParam(
  'Only agents whose card declares x402; `false`: only those without such a card. Default: both.',
  'true: only agents whose card declares x402.',
);

export const activeParam = eitherParam(
  'Only agents whose card says that they are in service; `false`: only those whose card says that they are not. An agent without a card is neither.',
  'true: only agents in service, by their card; false: only those out of it.',
);

export const ownerParam: Param<Address | undefined> = {
  in: 'query',
  description: 'Only agents that this address owns. What an address is paid with is on /agents/{wallet}.',
  toolText: 'Only agents that this address owns.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  read: (raw, name) => (raw === undefined ? undefined : readAddressParam(raw, name)),
};

export const agentCapabilityParam: Param<string | undefined> = capabilityFilter('agents');

export const agentIdParam: Param<bigint | undefined> = {
  in: 'query',
  description: 'Only the agent with this id; ids are counted on each chain by itself.',
  toolText: 'Only this id. Each chain counts its own.',
  required: false,
  schema: Type.String({ pattern: '^[0-9]{1,78}$' }),
  example: '2290',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const digits = typeof raw === 'number' && Number.isSafeInteger(raw) ? String(raw) : raw;
    if (typeof digits === 'string' && /^\d{1,78}$/.test(digits) && BigInt(digits) <= AGENT_ID_MAX)
      return BigInt(digits);
    throw invalid(name, `${name} must be a token id (decimal digits), not ${quoted(raw)}.`);
  },
};
