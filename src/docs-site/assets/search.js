/*
 * The words of the search, the same for the service, which builds the index, and for the browser, which asks it: how text is cut into words,
 * what counts as one word, and in which order pages are shown.
 */

/** Words that say nothing about the subject of a search. */
const STOP_WORDS = new Set(
  (
    'a about an and any are as at be by can cannot could did do does for from get give got had has have how i if in into is it its know ' +
    'me mine much my need of on or our should so than that the their them then there these they this to use was we what when where which who ' +
    'why will with without work works would you your'
  ).split(' '),
);
/** Shorter words are not completed while they are typed, and shorter than the second one not corrected. */
const PREFIX_CHARS_MIN = 3;
const FUZZY_CHARS_MIN = 5;
const FUZZY = 0.2;
const WEIGHTS = { prefix: 0.35, fuzzy: 0.25 };
const SYNONYM_BOOST = 0.6;
const BOOST = { heading: 6, page: 3, text: 1 };

const FIELDS = ['heading', 'page', 'text'];

/** Words in the order of the text: `rate_limited` and `listFlows` are words, and so are their parts. */
export function wordsOf(text) {
  const words = [];
  for (const [whole] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    words.push(whole);
    const parts = whole.replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2').split('_');
    if (parts.length > 1) words.push(...parts.filter((part) => part !== ''));
  }
  return words;
}

/** The stem that the forms of an English word share: refunds, refunded and refunding are one. Words with digits or `_` stay whole. */
export function stemOf(word) {
  const lower = word.toLowerCase();
  if (lower.length < 4 || /[^a-z]/.test(lower)) return lower;
  let stem = lower.replace(/ies$/, 'y').replace(/(ss|us|is)$/, '$1\u0000');
  stem = stem.endsWith('\u0000') ? stem.slice(0, -1) : stem.replace(/s$/, '');
  const cut = stem.replace(/(?:ization|isation|ations?|ing|ed|ment|ers?|ors?|ly)$/, '');
  if (cut !== stem && cut.length >= 3 && /[aeiouy]/.test(cut)) stem = cut.replace(/([^aeiouyls])\1$/, '$1');
  return stem.length > 3 ? stem.replace(/e$/, '') : stem;
}

/** What the index holds of a word; nothing for one that says nothing. */
function termOf(word) {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : stemOf(lower);
}

export const INDEX_OPTIONS = {
  fields: FIELDS,
  storeFields: ['url', 'page', 'heading', 'text', 'weight'],
  tokenize: wordsOf,
  processTerm: termOf,
};

/**
 * The sections that have all words of the query or their synonyms, those with the words in their headings first; if no section has all of
 * them, those that have some. `synonyms` are lists of words and phrases that mean the same here.
 */
export function searchIn(index, query, synonyms) {
  const words = queryWords(query, synonyms);
  if (words.length === 0) return [];
  const search = (combineWith) =>
    index.search(
      { combineWith, queries: words.map((word) => queryOf(word)) },
      { boostDocument: (_id, _term, stored) => stored.weight },
    );
  const all = search('AND');
  const hits = all.length > 0 ? all : search('OR');
  const isFirst = new Map(hits.map((hit) => [hit, Number(isInHeading(hit, words))]));
  return hits.sort((a, b) => isFirst.get(b) - isFirst.get(a) || b.score - a.score);
}

/** One word of the query: the stems that it may be found by. */
function queryWords(query, synonyms) {
  let rest = ` ${query
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, ' ')
    .trim()} `;
  const found = [];
  const phrases = synonyms.flatMap((group) => group.map((phrase) => ({ phrase, group })));
  for (const { phrase, group } of phrases.sort((a, b) => b.phrase.length - a.phrase.length)) {
    if (!phrase.includes(' ') || !rest.includes(` ${phrase} `)) continue;
    rest = rest.replace(` ${phrase} `, ' ');
    found.push({ stem: null, alternatives: alternativesOf(group), isLast: false });
  }
  const words = rest
    .trim()
    .split(' ')
    .filter((word) => word !== '');
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const kept = telling.length > 0 || found.length > 0 ? telling : [];
  for (const [at, word] of kept.entries()) {
    const stem = stemOf(word);
    const groups = synonyms.filter((group) =>
      group.some((other) => !other.includes(' ') && stemOf(other) === stem),
    );
    const alternatives = groups.flatMap(alternativesOf).filter((terms) => terms.join() !== stem);
    found.push({ stem, word, alternatives, isLast: at === kept.length - 1 });
  }
  return found;
}

/** The stems of each word or phrase of a group that can be looked for. */
function alternativesOf(group) {
  return group.map((phrase) => wordsOf(phrase).map(termOf)).filter((terms) => !terms.includes(null));
}

function queryOf({ stem, word, alternatives, isLast }) {
  const plain = { tokenize: (text) => [text], processTerm: (term) => term, boost: BOOST };
  const asWritten = { ...plain, prefix: false, fuzzy: false };
  const others = alternatives.map((terms) => ({
    ...asWritten,
    combineWith: 'AND',
    queries: terms,
    boost: scaled(SYNONYM_BOOST),
  }));
  if (stem === null) return { combineWith: 'OR', queries: others };
  const isPlain = /^[a-z]+$/.test(stem);
  const own = {
    ...plain,
    queries: [stem],
    prefix: isLast && word.length >= PREFIX_CHARS_MIN,
    fuzzy: isPlain && word.length >= FUZZY_CHARS_MIN ? FUZZY : false,
    weights: WEIGHTS,
  };
  return { combineWith: 'OR', queries: [own, ...others] };
}

function scaled(factor) {
  return Object.fromEntries(Object.entries(BOOST).map(([field, boost]) => [field, boost * factor]));
}

/** Whether the heading has every word of the query, as it is written or by a synonym. */
function isInHeading({ page, heading }, words) {
  const stems = new Set(wordsOf(`${heading} ${page}`).map(termOf));
  return words.every(
    ({ stem, alternatives }) =>
      stems.has(stem) || alternatives.some((terms) => terms.every((term) => stems.has(term))),
  );
}

/** The text in pieces; those at odd places are whole words that were found. */
export function markedWords(text, terms) {
  const found = new Set(terms);
  const parts = [];
  let plain = '';
  for (const part of text.split(/([\p{L}\p{N}_]+)/u)) {
    if (!wordsOf(part).some((word) => found.has(termOf(word)))) plain += part;
    else {
      parts.push(plain, part);
      plain = '';
    }
  }
  return [...parts, plain];
}
