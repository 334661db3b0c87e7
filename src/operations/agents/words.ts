import { type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';

/**
 * Search by words in what agents say of themselves. The engine takes both sides apart, the texts and the question, by one rule;
 * it is the rule of index ix_words (clickhouse/migrations/0014-agents.sql), and only under that very spelling does a search read
 * the index and not the table.
 *
 * A word is a run of letters, marks and digits, in lower case. The engine's own tokenizer takes every byte above ASCII for a
 * letter, a dash or a Chinese full stop too, so what is none becomes a space first. Chinese and Japanese have no spaces: each of
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
