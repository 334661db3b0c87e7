import { Type } from '@sinclair/typebox';
import { isAddress, readAddress } from '../../../core/domain/address.ts';
import { readDollarLimit } from '../../../core/domain/plan.ts';
import { capabilityFilter, invalid, type Param, quoted } from '../params.ts';

/** Parameters of the endpoint directory. */

const QUERY_MAX_CHARS = 200;
const WORDS_MAX = 8;

/** Words in lower case. */
export const endpointQueryParam: Param<readonly string[]> = {
  in: 'query',
  description: `Words that must all occur in the URL, the name of the service, the description or a tag, in any case, also as parts of longer words. Up to ${WORDS_MAX} words, ${QUERY_MAX_CHARS} characters.`,
  toolText: 'Words that must all occur in the URL, name, description or tags.',
  required: false,
  schema: Type.String({ maxLength: QUERY_MAX_CHARS }),
  example: 'weather',
  read: (raw, name) => {
    if (raw === undefined) return [];
    const words = typeof raw === 'string' ? raw.toLowerCase().split(/\s+/).filter(Boolean) : [];
    if (typeof raw !== 'string' || raw.length > QUERY_MAX_CHARS || words.length > WORDS_MAX)
      throw invalid(
        name,
        `${name} must be a text of at most ${QUERY_MAX_CHARS} characters and ${WORDS_MAX} words.`,
      );
    return words;
  },
};

/** A text of a closed alphabet, looked up as it is. */
function wordParam(
  description: string,
  pattern: string,
  what: string,
  example: string,
): Param<string | undefined> {
  const shape = new RegExp(pattern, 'u');
  return {
    in: 'query',
    description,
    required: false,
    schema: Type.String({ pattern }),
    example,
    read: (raw, name) => {
      if (raw === undefined || (typeof raw === 'string' && shape.test(raw))) return raw;
      throw invalid(name, `${name} must be ${what}, not ${quoted(raw)}.`);
    },
  };
}

export const endpointCapabilityParam: Param<string | undefined> = capabilityFilter('endpoints');

export const endpointTagParam = wordParam(
  'Only endpoints with this tag, in any case.',
  '^[^\\p{C}]{1,64}$',
  'a tag of at most 64 characters',
  'weather',
);

export const endpointNetworkParam: Param<string | undefined> = {
  ...wordParam(
    'Only endpoints with an offer on this network, as it is published: `base`, `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp`. `chain` finds an EVM chain under each of its names.',
    '^[A-Za-z0-9:_-]{1,100}$',
    'the name of a network',
    'base',
  ),
  toolText: 'Only offers on this network, as it is published, such as base.',
};

export const payToParam: Param<string | undefined> = {
  in: 'query',
  description:
    'Only endpoints with an offer that is paid to this address, headline or not. EVM addresses in any case.',
  toolText: 'Only what is paid to this address.',
  required: false,
  schema: Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' }),
  example: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw !== 'string' || !/^[A-Za-z0-9._:-]{1,128}$/.test(raw))
      throw invalid(name, `${name} must be an address, not ${quoted(raw)}.`);
    if (!/^0x/i.test(raw)) return raw;
    const address = readAddress(raw);
    if (isAddress(address)) return address;
    throw invalid(
      name,
      `${name} must be an address (0x and 40 hex digits, mixed case by EIP-55), not ${quoted(raw)}.`,
    );
  },
};

export const maxPriceParam: Param<bigint | undefined> = {
  in: 'query',
  description:
    'Only endpoints whose headline offer (`price_usd`) costs at most so many dollars. Those without a known price are left out.',
  toolText: 'Only what costs at most so many dollars (price_usd).',
  required: false,
  schema: Type.Number({ minimum: 0 }),
  example: 0.01,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const micros = readDollarLimit(raw);
    if (micros === null)
      throw invalid(name, `${name} must be a number of dollars, 0 or more, not ${quoted(raw)}.`);
    return micros;
  },
};
