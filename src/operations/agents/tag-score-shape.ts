import { type Static, Type } from '@sinclair/typebox';
import { displayText } from '../../../core/domain/display-text.ts';
import { CountShape, nullable } from '../shapes.ts';
import type { TagScore } from './row.ts';

/** What clients said of an agent under one tag. */

const TAG_MAX_CHARS = 256;

export const TagScoreShape = Type.Object(
  {
    tag: Type.Unsafe<string | null>({
      ...nullable(Type.String()),
      description: 'tag1 as it was logged, made safe to show; null for feedback without one.',
    }),
    mean: Type.Number({
      description:
        'Mean of the clients’ means, on the scale of the tag: milliseconds, percent, whatever it is.',
    }),
    is_rating: Type.Boolean({
      description: 'Whether the tag is read as a rating from 0 to 100; only these make `score`.',
    }),
    feedback_count: CountShape,
    distinct_clients: CountShape,
  },
  { title: 'TagScore' },
);

export function tagScoreAnswer(score: TagScore): Static<typeof TagScoreShape> {
  const tag = displayText(score.tag, TAG_MAX_CHARS);
  return {
    tag: tag === '' ? null : tag,
    mean: Number(score.mean),
    is_rating: score.isRating,
    feedback_count: score.feedbackCount,
    distinct_clients: score.distinctClients,
  };
}

export const TAG_SCORE_EXAMPLES: Static<typeof TagScoreShape>[] = [
  { tag: 'starred', mean: 94.1, is_rating: true, feedback_count: 180, distinct_clients: 120 },
  { tag: 'responseTime', mean: 412.5, is_rating: false, feedback_count: 34, distinct_clients: 21 },
];
