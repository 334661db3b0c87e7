import { useEffect, useMemo, useState } from 'preact/hooks';
import { keptCase } from '../account-texts.ts';
import { ApiProblem, isAbort } from '../api.ts';
import { PAGES } from '../pages.ts';
import { findDocs } from './docs.ts';
import {
  type Entry,
  type EntryGroup,
  groupsOf,
  identityEntries,
  pageEntries,
  searchEntries,
} from './entries.ts';
import { chooseByHash, findNames, nameWallet } from './names.ts';
import { recentEntries } from './recent.ts';

/** The entries for a text: at once what the page knows, then what the API and the documentation find. */

/** A typist's pause. Shorter ones would ask for every letter. */
const PAUSE_MS = 150;
/** One letter finds everything. */
const NAMES_FROM_CHARS = 2;

const LISTED_PAGES = PAGES.filter(({ path }) => !path.includes(':'));

export interface Entries {
  readonly groups: readonly EntryGroup[];
  readonly isSearching: boolean;
  readonly problem: ApiProblem | null;
}

interface Answered {
  readonly text: string;
  readonly identity: readonly Entry[] | null;
  readonly names: readonly Entry[];
  readonly docs: readonly Entry[];
  readonly problem: ApiProblem | null;
}

const NOTHING: Answered = { text: '', identity: null, names: [], docs: [], problem: null };

export function useEntries(typed: string): Entries {
  const text = typed.trim();
  const [answered, setAnswered] = useState<Answered>(NOTHING);
  useEffect(() => {
    if (text.length < NAMES_FROM_CHARS) return;
    const stopping = new AbortController();
    const ask = async (): Promise<void> => {
      const found = await find(text, stopping.signal);
      if (stopping.signal.aborted) return;
      setAnswered(found);
      // A busy service says when it has time again.
      const seconds = found.problem?.retryAfterSeconds ?? null;
      if (seconds !== null) timer = setTimeout(ask, seconds * 1_000);
    };
    let timer = setTimeout(ask, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [text]);
  const isSearching = text.length >= NAMES_FROM_CHARS && answered.text !== text;
  const groups = useMemo(() => allGroups(text, answered), [text, answered]);
  return { groups, isSearching, problem: answered.text === text ? answered.problem : null };
}

/** Until the new answer is there, names of the former text that still fit stay, so that the list does not flicker. */
function allGroups(text: string, answered: Answered): readonly EntryGroup[] {
  if (text === '') {
    const recent = { name: 'Opened lately', entries: recentEntries() };
    const pages = { name: 'Pages', entries: pageEntries(LISTED_PAGES, '') };
    return recent.entries.length > 0 ? [recent, pages] : [pages];
  }
  const isCurrent = answered.text === text;
  const stays = isCurrent || (answered.text !== '' && text.startsWith(answered.text));
  return groupsOf(
    {
      identity: (isCurrent ? answered.identity : null) ?? identityEntries(text),
      names: stays ? answered.names : [],
      pages: pageEntries(LISTED_PAGES, text),
      docs: stays ? answered.docs : [],
      search: searchEntries(text),
    },
    text,
  );
}

async function find(text: string, signal: AbortSignal): Promise<Answered> {
  const identity = identityEntries(text);
  const [first] = identity;
  let problem: ApiProblem | null = null;
  const onProblem = (error: unknown): void => {
    if (error instanceof ApiProblem) problem = error;
    else if (!isAbort(error)) throw error;
  };
  if (first !== undefined) {
    const asked =
      first.wallet === undefined
        ? chooseByHash(identity, keptCase(text), signal)
        : nameWallet(identity, first.wallet, signal);
    const named = await asked.catch((error: unknown) => {
      onProblem(error);
      return identity;
    });
    return { text, identity: named, names: [], docs: [], problem };
  }
  const [names, docs] = await Promise.all([
    findNames(text, signal, onProblem),
    findDocs(text).catch(() => []),
  ]);
  return { text, identity: null, names, docs, problem };
}
