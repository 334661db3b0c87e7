/**
 * Makes third-party text safe to show: names and descriptions of agents, services, endpoints, tags. Pages, terminals and logs
 * then render it as plain text.
 *
 * 1. White space of every kind becomes one space; controls, bidirectional controls, zero-width, tag, private, unassigned and
 *    otherwise invisible characters and lone surrogates go (so emoji lose their joiners and fall apart into their parts).
 * 2. Styled letters (mathematical, full-width, Roman numerals) become plain; the rest is composed (NFC). A letter keeps at most
 *    four combining marks, and a mark without a letter goes.
 * 3. A word that mixes scripts which look alike has its foreign letters shown as code points: `p{U+0430}ypal`. Latin may be
 *    mixed with scripts that do not resemble it (`AIエージェント`), and words of one script each stay as they are (`Москва AI`).
 *    A word that imitates a Latin one in a single foreign script passes: only a dictionary could detect it.
 * 4. A text of more than `maxChars` code points ends in `…`.
 */
export function displayText(raw: string, maxChars: number): string {
  // Cut first: composing a text costs time, and a text may be of any length.
  const bounded = raw.slice(0, maxChars * RAW_UNITS_PER_CHAR);
  const plain = foldSpace(
    bounded.replace(INVISIBLE, '').replace(STYLED, (letter) => letter.normalize('NFKC')),
  );
  let shown = cut(foldMarks(plain.normalize('NFC')), maxChars);
  // Cutting can leave a new word. Each round shows fewer foreign letters, so this terminates.
  for (let before = ''; before !== shown; ) {
    before = shown;
    shown = cut(shown.replace(WORD, showForeignLetters), maxChars);
  }
  return shown;
}

/**
 * Whether a name holds a character that its reader cannot see, or that moves the text around it: controls (line breaks among them),
 * bidirectional controls, zero-width, tag, filler, private and unassigned characters, lone surrogates. Emoji may hold their joiners.
 */
export function hasInvisible(name: string): boolean {
  return HIDDEN.test(name.replace(EMOJI, ''));
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const EMOJI =
  /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)*/gu;

/** UTF-16 units read per code point shown: two for itself, the rest for marks and dropped characters. */
const RAW_UNITS_PER_CHAR = 8;
const SPACE = /[\s\u0085\u2800]+/gu; // U+2800 is a braille letter without a dot
const INVISIBLE = /(?![\s\u0085])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
const STYLED = /[\u2160-\u217f\uff01-\uff5e\u{1d400}-\u{1d7ff}]/gu;
/** All marks of a letter after its fourth. */
const EXCESS_MARKS = /(\p{M}{4})\p{M}+/gu;
const STRAY_MARKS = /(?<=^|[\s\p{P}\p{S}])\p{M}+/gu;
const LETTER = /(\P{M})\p{M}*/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Characters of no particular script: digits, signs, most marks. A mark of one script (`\ua66f` of Cyrillic) is a foreign letter elsewhere. */
const SHARED = /[\p{Script=Common}\p{Script=Inherited}]/u;
/** Latin, and the scripts that share words with it and have no letter that looks Latin. */
const COMPANION =
  /[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Ethiopic}]/u;
const LOOK_ALIKE = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Georgian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
] as const;

function foldSpace(text: string): string {
  return text.replace(SPACE, ' ').trim();
}

function foldMarks(text: string): string {
  return foldSpace(text.replace(EXCESS_MARKS, '$1').replace(STRAY_MARKS, '').normalize('NFC'));
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const chars = [...text];
  return chars.length <= maxChars
    ? text
    : `${chars
        .slice(0, maxChars - 1)
        .join('')
        .trimEnd()}…`;
}

function showForeignLetters(word: string): string {
  const letters = [...word].filter((char) => !SHARED.test(char));
  const foreign = letters.filter((letter) => !COMPANION.test(letter));
  const scripts = new Set(foreign.map((letter) => LOOK_ALIKE.findIndex((script) => script.test(letter))));
  const isOneScript = foreign.length === letters.length && scripts.size === 1;
  if (foreign.length === 0 || isOneScript) return word;
  return word.replace(LETTER, (all, letter: string) =>
    foreign.includes(letter)
      ? codePoint(letter) // without its marks, which would combine with the brace
      : [...all]
          .filter((char) => !foreign.includes(char))
          .join('')
          .normalize('NFC'),
  );
}

function codePoint(char: string): string {
  return `{U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`;
}
