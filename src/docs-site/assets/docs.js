/* Search, copy buttons and the choice of colours. Everything else works without it. */

const RESULTS_MAX = 8;
const SNIPPET_BEFORE_CHARS = 40;
const SNIPPET_CHARS = 150;
const COPIED_SHOWN_MS = 1_500;
const STORED_AS = 'six.theme'; // as in the console

const html = document.documentElement;

function chooseColours() {
  const select = document.getElementById('theme');
  select.value = html.dataset.theme ?? 'system';
  select.addEventListener('change', () => {
    const { value } = select;
    if (value === 'system') delete html.dataset.theme;
    else html.dataset.theme = value;
    try {
      if (value === 'system') localStorage.removeItem(STORED_AS);
      else localStorage.setItem(STORED_AS, value);
    } catch {
      // Storage may be forbidden: the choice then holds for this page.
    }
  });
}

function offerCopies() {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy this code');
    button.addEventListener('click', async () => {
      const copied = await navigator.clipboard.writeText(block.querySelector('code').textContent).then(
        () => true,
        () => false,
      );
      button.textContent = copied ? 'Copied' : 'Press Ctrl-C';
      if (!copied) getSelection().selectAllChildren(block.querySelector('code'));
      setTimeout(() => {
        button.textContent = 'Copy';
      }, COPIED_SHOWN_MS);
    });
    block.append(button);
  }
}

const LANGUAGE_NAMES = { sh: 'curl', ts: 'TypeScript', python: 'Python' };
const LANGUAGE_STORED_AS = 'six.language';

/** The language of the requests is the one that was chosen last, on every page. */
function offerLanguages() {
  const groups = [...document.querySelectorAll('.languages')].map((group) => {
    const blocks = new Map();
    for (const block of group.querySelectorAll('.code'))
      blocks.set(block.querySelector('code').className.replace('language-', ''), block);
    const choices = document.createElement('div');
    choices.className = 'choices';
    choices.setAttribute('role', 'group');
    choices.setAttribute('aria-label', 'Language');
    group.prepend(choices);
    return { blocks, choices };
  });
  const show = (language) => {
    for (const { blocks, choices } of groups) {
      for (const [name, block] of blocks) block.hidden = name !== language;
      for (const button of choices.children)
        button.setAttribute('aria-pressed', String(button.value === language));
    }
  };
  for (const { blocks, choices } of groups)
    for (const name of blocks.keys()) choices.append(languageButton(name, show));
  show(storedLanguage());
}

function languageButton(name, show) {
  const button = document.createElement('button');
  button.type = 'button';
  button.value = name;
  button.textContent = LANGUAGE_NAMES[name];
  button.addEventListener('click', () => {
    show(name);
    try {
      localStorage.setItem(LANGUAGE_STORED_AS, name);
    } catch {
      // Storage may be forbidden: the choice then holds for this page.
    }
  });
  return button;
}

function storedLanguage() {
  try {
    const stored = localStorage.getItem(LANGUAGE_STORED_AS);
    return Object.hasOwn(LANGUAGE_NAMES, stored) ? stored : 'sh';
  } catch {
    return 'sh';
  }
}

/** A deployment that is not told its own URL leaves this one in its requests; the address of the page says which it is. */
const DEPLOYMENT = /https:\/\/index\.example(?!:\d)/g;

function fillAddress() {
  const here = new URL('../..', import.meta.url).href.replace(/\/$/, '');
  const texts = document.createTreeWalker(document.getElementById('content'), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    if (text.parentElement.closest('code') !== null && text.data.includes('index.example'))
      text.data = text.data.replace(DEPLOYMENT, here);
}

let loading;

/** The index comes as the service built it. Loaded once, at the first search. */
function loadSearch() {
  loading ??= (async () => {
    const [{ default: MiniSearch }, words, answer] = await Promise.all([
      import(new URL('minisearch.js', import.meta.url).href),
      import(new URL('search.js', import.meta.url).href),
      fetch(new URL('../search.json', import.meta.url)),
    ]);
    if (!answer.ok) throw new Error(`search.json: ${answer.status}`);
    const { index: built, synonyms } = await answer.json();
    const index = MiniSearch.loadJS(built, words.INDEX_OPTIONS);
    return {
      find: (query) => words.searchIn(index, query, synonyms),
      marked: (text, terms) => marked(words.markedWords(text, terms)),
    };
  })();
  loading.catch(() => {
    loading = undefined; // the next search tries again
  });
  return loading;
}

function offerSearch() {
  const input = document.getElementById('search');
  const results = document.getElementById('results');
  const found = document.getElementById('found');
  let asked = 0;
  const close = () => {
    results.hidden = true;
    found.textContent = '';
  };
  const show = async () => {
    const turn = ++asked;
    const words = input.value.trim();
    if (words === '') return close();
    const search = await loadSearch().catch(() => null);
    if (turn !== asked) return; // another search has begun
    const hits = search?.find(words).slice(0, RESULTS_MAX) ?? null;
    results.replaceChildren(...(hits ?? []).map((hit) => resultOf(hit, search.marked)));
    results.hidden = hits === null || hits.length === 0;
    found.textContent = countText(hits);
    found.classList.toggle('visually-hidden', hits !== null && hits.length > 0);
  };
  input.form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  input.addEventListener('focus', () => void loadSearch().catch(() => undefined));
  input.addEventListener('input', () => void show());
  document.addEventListener('keydown', (event) => onKey(event, { input, results, close }));
  document.addEventListener('click', (event) => {
    if (!input.form.contains(event.target)) close();
  });
}

function countText(hits) {
  if (hits === null) return 'The search could not be loaded.';
  if (hits.length === 0) return 'Nothing was found.';
  return hits.length === 1 ? '1 result' : `${hits.length} results`;
}

function onKey(event, { input, results, close }) {
  const typing = event.target.closest('input, textarea, select') !== null;
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    input.focus();
    return;
  }
  if (!input.form.contains(event.target)) return;
  if (event.key === 'Escape') {
    close();
    input.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || results.hidden) return;
  event.preventDefault();
  const stops = [input, ...results.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  stops[(at + step + stops.length) % stops.length].focus();
}

function resultOf({ url, page, heading, text, terms }, marked) {
  const link = document.createElement('a');
  link.href = url;
  const place = document.createElement('small');
  place.textContent = page;
  const title = document.createElement('strong');
  title.append(...marked(heading, terms));
  const words = document.createElement('span');
  words.append(...marked(snippetOf(text, terms), terms));
  link.append(place, title, words);
  return link;
}

/** The text around the first word that begins like one that was found. */
function snippetOf(text, terms) {
  const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const place = escaped.length === 0 ? -1 : text.search(new RegExp(`\\b(?:${escaped.join('|')})`, 'i'));
  const start = place < 0 ? 0 : wordStart(text, Math.max(0, place - SNIPPET_BEFORE_CHARS));
  const cut = text.slice(start, start + SNIPPET_CHARS);
  return `${start > 0 ? '… ' : ''}${cut}${start + SNIPPET_CHARS < text.length ? ' …' : ''}`;
}

function wordStart(text, place) {
  return place === 0 ? 0 : text.indexOf(' ', place) + 1;
}

/** Nodes, so that text never becomes markup. */
function marked(parts) {
  return parts.map((part, at) => {
    if (at % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}

/** Scrolls a list of links, and only the list, to one of them. */
function bringIntoView(list, link) {
  const { top, bottom } = list.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top >= top && place.bottom <= bottom) return;
  list.scrollTop += (place.top + place.bottom - top - bottom) / 2;
}

/** The navigation is longer than most windows. */
function showCurrentPage() {
  const pages = document.getElementById('pages');
  const link = pages.querySelector('[aria-current]');
  if (link === null) return;
  bringIntoView(pages, link);
  pages.addEventListener('toggle', () => bringIntoView(pages, link));
}

/** Marks the current section in the table of contents. */
function followReading() {
  const links = new Map(
    [...document.querySelectorAll('.contents a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  if (links.size === 0) return;
  const headings = [...links.keys()]
    .map((id) => document.getElementById(id))
    .filter((heading) => heading !== null);
  let current;
  const observer = new IntersectionObserver(
    () => {
      const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight * 0.3);
      const link = links.get(passed.at(-1)?.id);
      if (link === current) return;
      current?.removeAttribute('aria-current');
      link?.setAttribute('aria-current', 'location');
      if (link !== undefined) bringIntoView(link.closest('.contents'), link);
      current = link;
    },
    { rootMargin: '0px 0px -70% 0px' },
  );
  for (const heading of headings) observer.observe(heading);
}

chooseColours();
fillAddress();
offerCopies();
offerLanguages();
offerSearch();
showCurrentPage();
followReading();
