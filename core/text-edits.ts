/**
 * A correction of a text: what stands from `from` up to `to` becomes `text`. Both count UTF-16 code units from 0, as strings of JavaScript,
 * Java and C# do, in the text that the caller sent.
 */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The text with edits that do not overlap. Of two at one place, an insertion comes before a replacement. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  let done = 0;
  const parts: string[] = [];
  for (const edit of [...edits].sort((one, other) => one.from - other.from || one.to - other.to)) {
    parts.push(text.slice(done, edit.from), edit.text);
    done = edit.to;
  }
  return parts.join('') + text.slice(done);
}
