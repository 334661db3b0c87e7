import { FEEDBACK_PROBLEMS } from '../../ingest/agents/fetch-feedback.ts';
import { CARD_PROBLEMS } from '../../ingest/agents/read-card.ts';
import { FETCH_PROBLEMS } from '../../ingest/fetch/document-fetcher.ts';
import { table } from './markdown.ts';

/** The block of docs/identities.md with every reason for which there is no card, or no proof in a feedback file. */
export function fileProblemsBlock(): string {
  const fetching = Object.entries(FETCH_PROBLEMS).map(([code, { retry, meaning }]) => [
    `\`${code}\``,
    meaning,
    retry ? 'yes' : 'no',
  ]);
  const reading = Object.entries({ ...CARD_PROBLEMS, ...FEEDBACK_PROBLEMS }).map(([code, meaning]) => [
    `\`${code}\``,
    meaning,
    Object.hasOwn(CARD_PROBLEMS, code) ? 'over http(s)' : 'no',
  ]);
  return `\n${table(['problem', 'meaning', 'tried again'], [...fetching, ...reading])}\n`;
}
