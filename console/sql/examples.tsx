import { useEffect, useState } from 'preact/hooks';
import { Loading } from '../components/states.tsx';
import type { SqlQuestion } from './query-text.ts';

interface WorkedQuery {
  readonly number: number;
  readonly question: string;
  readonly sql: string;
  readonly params: SqlQuestion['params'];
  readonly about: string;
}

interface ExamplesProps {
  /** Opens the query in a tab; it is not run. */
  onOpen(query: Pick<SqlQuestion, 'sql' | 'params'> & { readonly name: string }): void;
}

/** The worked questions of the documentation. They are loaded when the list is opened. */
export function Examples({ onOpen }: ExamplesProps) {
  const [queries, setQueries] = useState<readonly WorkedQuery[] | null>(null);
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    let isHere = true;
    void import('./worked-queries.json').then(({ default: loaded }) => {
      // The file has objects of one shape; its type has a union of the shapes of `params`.
      if (isHere) setQueries(loaded as unknown as readonly WorkedQuery[]);
    });
    return () => {
      isHere = false;
    };
  }, []);
  if (queries === null) return <Loading what="the examples" />;
  const words = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const shown = queries.filter((query) => hasWords(query, words));
  return (
    <>
      <label class="schema-search">
        <span class="visually-hidden">Search the examples</span>
        <input
          type="search"
          placeholder={`Search ${queries.length} worked questions`}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      </label>
      <ul class="examples" aria-label="Examples">
        {shown.map(({ number, question, sql, params, about }) => (
          <li key={number}>
            <button type="button" title={sql} onClick={() => onOpen({ sql, params, name: question })}>
              <span>{question}</span>
              {about === '' ? null : <span class="muted small">{about}</span>}
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class="muted small">No question matches.</p> : null}
      <p class="small">
        <a href="/docs/sql">The questions with explanations</a>
      </p>
    </>
  );
}

function hasWords({ question, sql, about }: WorkedQuery, words: readonly string[]): boolean {
  const text = `${question} ${about} ${sql}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
