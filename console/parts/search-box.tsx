import { useState } from 'preact/hooks';
import { navigate } from '../router.tsx';
import { SEARCH_TEXT_MAX, searchPath } from './search-path.ts';

export function SearchBox() {
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
            placeholder="Wallet address or words of an agent"
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
