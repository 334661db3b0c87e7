import type { NumberForm } from '../../../sandbox/sandbox.ts';
import type { KeptResult } from '../../results/results.ts';
import type { Answer, Charge } from '../answer.ts';
import type { SqlFormat } from './params.ts';

/** Answers of saved queries as calls see them; answers.ts makes them. */
export interface SavedAnswers {
  /** The answer, from memory where it is there. */
  read(kept: KeptResult, version: SavedVersion, form: AnswerForm): Promise<ReadyAnswer>;
  /** A text as the sandbox prints it, by the text that was saved; undefined before it was judged in this process. */
  readonly printed: { get(sql: string): string | undefined; set(sql: string, text: string): unknown };
}

/** Which version of a saved query it answers. */
export interface SavedVersion {
  readonly owner: string;
  readonly slug: string;
  readonly version: number;
}

export interface AnswerForm {
  readonly format: SqlFormat;
  readonly numbers: NumberForm;
  readonly csvNull?: string;
  readonly maxRows: number;
  readonly offset: number;
}

export interface ReadyAnswer {
  readonly rows: number;
  answer(charge: Charge): Answer;
  discard(): void;
}
