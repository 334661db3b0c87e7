import { CARD_PROBLEMS } from '../../ingest/agents/cards/read.ts';
import { FEEDBACK_PROBLEMS } from '../../ingest/agents/feedback/queue.ts';
import { FETCH_PROBLEMS } from '../../ingest/fetch/document.ts';
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
