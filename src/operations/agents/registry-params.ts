import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/address.ts';
import { ATTESTATION_KINDS, type AttestationKind } from '../../../core/domain/registry-event.ts';
import { fail } from '../../../core/errors.ts';
import { ADDRESS_SCHEMA, namedOnlyParam, type Param, quoted, readAddressParam } from '../params.ts';
import { LEADERBOARD_OFFSET_MAX, RANKINGS, type RankedBy } from './read-leaderboard.ts';

/** Parameters of the leaderboard and of the attestations. */

const TAG_MAX_CHARS = 256;

function invalid(parameter: string, detail: string): Error {
  return fail('invalid_parameter', { parameter, detail });
}

/** Refused above its maximum, not clamped: a clamped page would repeat rows without a word. */
export const leaderboardOffsetParam: Param<number> = {
  in: 'query',
  description: `Rows to skip: \`next_offset\` of the previous page. 0 to ${LEADERBOARD_OFFSET_MAX.toLocaleString('en')}.`,
  toolText: 'next_offset of the previous page.',
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

export const includeSpamParam: Param<boolean> = {
  ...namedOnlyParam,
  description:
    'Whether agents without a score (no rating stands, or with `by=paid` none that proves a payment) are listed too, below those with one, by chain and agent_id.',
  toolText: 'Whether to list agents without a score too, last.',
};

export const rankedByParam: Param<RankedBy> = {
  in: 'query',
  description:
    'rating: by `score`, of all ratings. paid: by `paid_score`, of the ratings whose proof of payment was verified. Default: rating.',
  toolText: 'All ratings, or only those with a verified proof of payment. Default rating.',
  required: false,
  schema: Type.Unsafe<RankedBy>({ type: 'string', enum: [...RANKINGS], default: 'rating' }),
  example: 'paid',
  read: (raw, name) => {
    if (raw === undefined) return 'rating';
    const by = RANKINGS.find((known) => known === raw);
    if (by !== undefined) return by;
    throw invalid(name, `${name} must be ${RANKINGS.join(' or ')}, not ${quoted(raw)}.`);
  },
};

export const attestationClientParam: Param<Address | undefined> = {
  in: 'query',
  description:
    'Only feedback that this address gave, and what answers or revokes such feedback. Validations have no client.',
  toolText: 'Only feedback that this address gave, and what answers or revokes it.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  read: (raw, name) => (raw === undefined ? undefined : readAddressParam(raw, name)),
};

export const attestationTagParam: Param<string | undefined> = {
  in: 'query',
  description: `Only rows whose tag1 or tag2 was logged as exactly this text of at most ${TAG_MAX_CHARS} characters. What is shown of a tag is made safe to show and may differ.`,
  toolText: 'Only rows whose tag1 or tag2 is exactly this text.',
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
