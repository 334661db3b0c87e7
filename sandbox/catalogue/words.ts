import type { Token } from '../judge/parser.ts';
import { refuse } from '../judge/refusal.ts';
import { type SqlSetting, settingKind } from '../policy/settings.ts';

/** Small readers of the engine's tokens of a canonical text: keywords in capitals, aliases always with AS, no comments. */

/** A token that is read as a name: quotes removed. */
export function plain(token: Token | undefined): string {
  const text = token?.text ?? '';
  return token?.kind === 'QuotedIdentifier' ? text.slice(1, -1) : text;
}

export function isName(token: Token | undefined): boolean {
  return token?.kind === 'BareWord' || token?.kind === 'QuotedIdentifier';
}

export function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'BareWord' && words.includes(token.text);
}

/** A text with its tokens, and what a client wrote behind the statement itself. */
export interface CatalogueStatement {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** FORMAT at the end; null without one. */
  readonly format: string | null;
}

/** Settings that change no answer are left out: the rows of the catalogue are few and do not change. Throws `Refused` (`settings`). */
export function checkSetting({ name, value }: SqlSetting): void {
  const kind = settingKind({ name, value: /^'.*'$/s.test(value) ? value.slice(1, -1) : value });
  if (kind !== null && kind !== 'value') return;
  refuse('settings', {
    near: name,
    detail: `The setting ${name} cannot be set here.`,
    hint: 'Settings that shape the answer, and limits on time, rows, threads and memory, are accepted.',
  });
}

/** Takes FORMAT and SETTINGS off the end. Throws `Refused` (`settings`). */
export function withoutEnd(text: string, tokens: readonly Token[]): CatalogueStatement {
  let rest = tokens;
  let format: string | null = null;
  for (;;) {
    const [word, name] = rest.slice(-2);
    const settings = settingsAt(rest);
    if (rest.length > 2 && isWord(word, 'FORMAT') && isName(name)) {
      format ??= plain(name);
      rest = rest.slice(0, -2);
    } else if (settings > 0) {
      for (const setting of settingsIn(rest.slice(settings + 1))) checkSetting(setting);
      rest = rest.slice(0, settings);
    } else {
      const end = tokens[rest.length]?.at;
      const kept = end === undefined ? text : Buffer.from(text).subarray(0, end).toString('utf8').trimEnd();
      return { text: kept, tokens: rest, format };
    }
  }
}

/** Where a SETTINGS clause begins that reaches to the end; 0 without one. */
function settingsAt(tokens: readonly Token[]): number {
  const at = tokens.findLastIndex((token) => isWord(token, 'SETTINGS'));
  if (at <= 0) return 0;
  return settingsIn(tokens.slice(at + 1)).length > 0 ? at : 0;
}

/** The settings in `name = literal, …`; none if the tokens are anything else. */
export function settingsIn(tokens: readonly Token[]): readonly SqlSetting[] {
  const settings: SqlSetting[] = [];
  let at = 0;
  while (at < tokens.length) {
    const sign = tokens[at + 2]?.kind === 'Minus' ? 1 : 0;
    const value = tokens[at + 2 + sign];
    if (!isName(tokens[at]) || tokens[at + 1]?.kind !== 'Equals' || !isLiteral(value)) return [];
    settings.push({ name: plain(tokens[at]), value: value?.text ?? '' });
    at += 3 + sign;
    if (at < tokens.length && tokens[at]?.kind !== 'Comma') return [];
    at += 1;
  }
  return settings;
}

function isLiteral(token: Token | undefined): boolean {
  return (
    token?.kind === 'Number' || token?.kind === 'StringLiteral' || isWord(token, 'true', 'false', 'DEFAULT')
  );
}

/** Pieces of a text, put together again with some of them replaced. */
export interface Replacement {
  /** Positions in the tokens, the second one included. */
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

export function replaced(
  { text, tokens }: Pick<CatalogueStatement, 'text' | 'tokens'>,
  replacements: readonly Replacement[],
): string {
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  let done = 0;
  for (const { from, to, by } of replacements) {
    const [first, last] = [tokens[from], tokens[to]];
    if (first === undefined || last === undefined) continue;
    parts.push(bytes.subarray(done, first.at).toString('utf8'), by);
    done = last.at + Buffer.byteLength(last.text);
  }
  return [...parts, bytes.subarray(done).toString('utf8')].join('');
}
