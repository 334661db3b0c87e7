import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { navigate } from '../router.tsx';
import { SEARCH_TEXT_MAX, searchPath } from '../routes.ts';

interface PageHeadProps {
  readonly title: string;
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
}

/** The head of most pages: the title, what the page shows, and the search for wallets and agents. */
export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        <p class="muted">{children}</p>
      </div>
      <SearchBox />
    </div>
  );
}

function SearchBox() {
  const [text, setText] = useState('');
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const path = searchPath(text);
    if (path === null) return;
    setText('');
    navigate(path);
  };
  return (
    <search class="search-place">
      <form class="search" onSubmit={onSubmit}>
        <label>
          <span class="visually-hidden">Search wallets and agents</span>
          <input
            type="search"
            name="q"
            value={text}
            maxLength={SEARCH_TEXT_MAX}
            placeholder="Wallet address or name of an agent"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button">
          Search
        </button>
      </form>
    </search>
  );
}
