import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayText } from '../../../core/domain/display-text.ts';

/** Texts of all that strangers mix: letters of many scripts, marks, controls, halves of surrogate pairs. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'а',
        'е',
        'о',
        'α',
        'Ο',
        'a',
        'e',
        'o',
        'A',
        '中',
        'ア',
        ' ',
        '\n',
        '-',
        '\u0301',
        '\ua66f', // a mark of Cyrillic
        '𝐀',
        'Ａ',
      ),
      fc.constantFrom(
        '\ud800',
        '\udc00',
        '\u202e',
        '\u2066',
        '\u200d',
        '\u{e0041}',
        '\ufe0f',
        '\u3164',
        '\u034f',
        '\u0000',
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('a text that is shown', () => {
  test('has no character that hides, reorders or breaks a line, for any text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 80 }), (raw, maxChars) => {
        const shown = displayText(raw, maxChars);
        expect(shown).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
        expect(shown).not.toMatch(/^\s|\s$|\s\s|[^\S ]/u);
        expect([...shown].length).toBeLessThanOrEqual(maxChars);
        expect(shown).toBe(shown.normalize('NFC'));
        expect(shown).not.toMatch(/\p{M}{5}/u);
      }),
    );
  });

  test('has no word of Latin and Cyrillic, Greek or Armenian letters, for any text', () => {
    fc.assert(
      fc.property(anyText, (raw) => {
        for (const word of displayText(raw, 60).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
          expect(
            /\p{Script=Latin}/u.test(word) &&
              /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(word),
          ).toBe(false);
      }),
    );
  });

  test('is shown the same when it is shown again', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 80 }), (raw, maxChars) => {
        const shown = displayText(raw, maxChars);
        expect(displayText(shown, maxChars)).toBe(shown);
      }),
    );
  });

  test.each([
    'Weather Oracle',
    'Москва AI',
    'МОСКВА-AI',
    'Αθήνα Travel',
    'AIエージェント',
    '東京GPT 天気',
    '한국AI',
    'مساعد AI',
    'עוזר-AI',
    'สวัสดีAI',
    'Ünïcödé Çafé',
    'Łódź, Đà Nẵng & Şişli',
    "O'Neil's 100% C++ (v2.0) — “best”",
    '🤖 Bot 42',
    'Привет 123',
    'हिन्दी',
  ])('%s is left whole', (name) => expect(displayText(name, 100)).toBe(name));

  test.each([
    ['pаypal', 'p{U+0430}ypal'],
    ['Сoinbase Agent', '{U+0421}oinbase Agent'],
    ['USDС', 'USD{U+0421}'],
    ['Cοinbase', 'C{U+03BF}inbase'],
    ['Βапк', '{U+0392}{U+0430}{U+043F}{U+043A}'],
    ['𝐂𝐨𝐢𝐧𝐛𝐚𝐬𝐞 Ｐａｙ', 'Coinbase Pay'],
    ['Ⅽoinbase', 'Coinbase'],
    ['pay\u202epal\u202c', 'paypal'],
    ['pay\u200bpal\u{e0041}\ufeff', 'paypal'],
    ['a\u0000\u001b[31mb', 'a[31mb'],
    ['a\r\n\tb\u2028c\u00a0d\u3000e', 'a b c d e'],
    ['\ud83dx\udc00', 'x'],
    ['e\u0301', 'é'],
    [`Z${'\u0335'.repeat(50)}algo`, `Z${'\u0335'.repeat(4)}algo`],
    ['\u0301\u0302x', 'x'],
    ['❤\ufe0f', '❤'],
    ['\u3164\u115f\u034f', ''],
    ['\u{10ffff}\ue000', ''],
  ])('%j is shown as %j', (raw, shown) => expect(displayText(raw, 100)).toBe(shown));

  test('is cut between code points, and says so', () => {
    expect(displayText('😀😀😀😀', 4)).toBe('😀😀😀😀');
    expect(displayText('😀😀😀😀😀', 4)).toBe('😀😀😀…');
    expect(displayText('one two three', 9)).toBe('one two…');
  });

  test('is made in bounded time, whatever its length', () => {
    const started = performance.now();
    for (const unit of ['a\u0301', '\u200b', 'аa', '\u0335', '\u1100', ' '])
      expect([...displayText(unit.repeat(2_000_000), 500)].length).toBeLessThanOrEqual(500);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
