import { Type } from '@sinclair/typebox';
import { type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import { ATTESTATION_KINDS, type AttestationKind } from '../../../core/domain/agent.ts';
import { displayText } from '../../../core/domain/display-text.ts';
import { capabilityFilter } from '../common-params.ts';
import { flagParam, invalid, type Param, quoted } from '../params.ts';
import { RANKING_OFFSET_MAX } from '../rankings/rankings.ts';
import { ADDRESS_SCHEMA, readAddressParam } from '../read-account.ts';
import { LEADERBOARD_OFFSET_MAX } from './read-leaderboard.ts';

/**
 * Search by words in the names and descriptions of agents. The engine splits both sides, the texts and the phrase, by one rule: that
 * of index ix_words (clickhouse/tables/agents.ts). Only with exactly this expression does a search read the index and not
 * the table.
 *
 * A word is a run of letters, marks and digits, in lower case. The engine's own tokenizer takes every byte above ASCII for a
 * letter, even a dash or a Chinese full stop, so these become spaces first. Chinese and Japanese have no spaces: each of
 * their letters is a word.
 */
const wordsOf = (phrase: Sql): Sql =>
  sql`replaceRegexpAll(replaceRegexpAll(lowerUTF8(${phrase}), '[^\\\\p{L}\\\\p{M}\\\\p{N}]+', ' '), '[\\\\p{Han}\\\\p{Hiragana}\\\\p{Katakana}]', ' \\\\0 ')`;

/** Condition on `agents`: every word of the phrase is a word of the agent's name or description. */
export function saysAllWords(phrase: string): Sql {
  return sql`hasAllTokens(${wordsOf(sql`concat(name, ' ', description)`)}, tokens(${wordsOf(sql`${text(phrase)}`)}, 'splitByNonAlpha'))`;
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** How many words a phrase has by the same rule. */
export function countWords(phrase: string): number {
  return phrase.replace(CJK, ' $& ').match(/[\p{L}\p{M}\p{N}]+/gu)?.length ?? 0;
}

/** Parameters of the leaderboard and of the attestations. */

const TAG_MAX_CHARS = 256;

/** Refused above its maximum, not clamped: a clamped page would silently repeat rows. */
export const leaderboardOffsetParam: Param<number> = {
  in: 'query',
  description: `Rows to skip: \`next_offset\` of the previous page. 0 to ${LEADERBOARD_OFFSET_MAX.toLocaleString('en')}, in rankings by payments to ${RANKING_OFFSET_MAX.toLocaleString('en')}.`,
  toolText: 'Earlier next_offset.',
  required: false,
  schema: Type.Integer({ minimum: 0, maximum: LEADERBOARD_OFFSET_MAX, default: 0 }),
  read: (raw, name) => {
    if (raw === undefined) return 0;
    const isWhole =
      typeof raw === 'number'
        ? Number.isSafeInteger(raw) && raw >= 0
        : typeof raw === 'string' && /^\d{1,30}$/.test(raw);
    if (!isWhole) throw invalid(name, `${name} must be an integer of 0 or more, not ${quoted(raw)}.`);
    if (Number(raw) > LEADERBOARD_OFFSET_MAX)
      throw invalid(name, `${name} reaches to ${LEADERBOARD_OFFSET_MAX}; ask for one chain to see further.`);
    return Number(raw);
  },
};

export const includeSpamParam: Param<boolean> = flagParam(
  'Whether agents without a score (no rating stands, or with `by=paid_score` none that proves a payment) are listed too, below those with one, by chain and agent_id. Of rankings by score alone.',
  'List unscored agents too, last.',
);

export const attestationClientParam: Param<Address | undefined> = {
  in: 'query',
  description:
    'Only feedback that this address gave, and what answers or revokes such feedback. Validations have no client.',
  toolText: 'Feedback that this address gave, and what answers or revokes it.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0x4b690d38773522a360b59c42cfd2128d0049b675',
  read: (raw, name, facts) => (raw === undefined ? undefined : readAddressParam(raw, name, facts)),
};

export const attestationTagParam: Param<string | undefined> = {
  in: 'query',
  description: `Only rows whose tag1 or tag2 was logged as exactly this text of at most ${TAG_MAX_CHARS} characters. What is shown of a tag is made safe to show and may differ.`,
  toolText: 'Exactly this text as tag1 or tag2.',
  required: false,
  schema: Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS }),
  example: 'starred',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && raw !== '' && [...raw].length <= TAG_MAX_CHARS) return raw;
    throw invalid(name, `${name} must be a text of 1 to ${TAG_MAX_CHARS} characters.`);
  },
};

export const attestationKindParam: Param<AttestationKind | undefined> = {
  in: 'query',
  description: 'Only rows of this kind.',
  required: false,
  schema: Type.Union(ATTESTATION_KINDS.map((kind) => Type.Literal(kind))),
  example: 'feedback',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const kind = ATTESTATION_KINDS.find((known) => known === raw);
    if (kind !== undefined) return kind;
    throw invalid(name, `${name} must be one of ${ATTESTATION_KINDS.join(', ')}, not ${quoted(raw)}.`);
  },
};

/** Parameters of the lists of agents. */

const QUERY_MAX_CHARS = 100;
/** The engine's text index looks for 64 words at most. */
const WORDS_MAX = 32;
const AGENT_ID_MAX = 2n ** 256n - 1n;

/** The phrase in the form in which names and descriptions are stored: cleaned for display like them. */
export const agentQueryParam: Param<string | undefined> = {
  in: 'query',
  description: `Words that must all be words of the name or the description, whole and in any case. A word is a run of letters and digits of any script; of Chinese and Japanese each letter is one. Up to ${QUERY_MAX_CHARS} characters and ${WORDS_MAX} words; an empty text filters nothing, one without a word is refused.`,
  toolText: 'Whole words, all in the name or the description.',
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

/** Both values filter; without the parameter there is no filter. */
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
  'true: the card declares x402.',
);

export const activeParam = eitherParam(
  'Only agents whose card says that they are in service; `false`: only those whose card says that they are not. An agent without a card is neither.',
  'true: in service, by their card; false: out of it.',
);

export const ownerParam: Param<Address | undefined> = {
  in: 'query',
  description: 'Only agents that this address owns. What an address is paid with is on /agents/{wallet}.',
  toolText: 'Address of the owner.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0x4b690d38773522a360b59c42cfd2128d0049b675',
  read: (raw, name, facts) => (raw === undefined ? undefined : readAddressParam(raw, name, facts)),
};

export const agentCapabilityParam: Param<string | undefined> = capabilityFilter('agents');

export const agentIdParam: Param<bigint | undefined> = {
  in: 'query',
  description: 'Only the agent with this id; ids are counted on each chain by itself.',
  toolText: 'Each chain counts its own.',
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
