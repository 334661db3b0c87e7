import { createStore } from './store.ts';

/**
 * The visitor’s key. It lives in the storage of this browser and in request headers, never in an address, a title or a text on the
 * page. `visitor`: the deployment gives everybody who opens the console a key of its own, as the demo does.
 */
export interface Session {
  readonly key: string | null;
  readonly origin: 'none' | 'entered' | 'visitor';
  /** Whether it outlives the tab. */
  readonly remembered: boolean;
}

const STORED_AS = 'six.key';
const VISITOR_KEY_NAME = 'six-visitor-key';

export const session = createStore<Session>(readSession());

export function enterKey(key: string, { remember }: { readonly remember: boolean }): void {
  forgetStored();
  (remember ? localStorage : sessionStorage).setItem(STORED_AS, key);
  session.set({ key, origin: 'entered', remembered: remember });
}

/** Back to what the deployment gives to everybody. */
export function forgetKey(): void {
  forgetStored();
  session.set(readSession());
}

function forgetStored(): void {
  sessionStorage.removeItem(STORED_AS);
  localStorage.removeItem(STORED_AS);
}

function readSession(): Session {
  const remembered = localStorage.getItem(STORED_AS);
  const key = sessionStorage.getItem(STORED_AS) ?? remembered;
  if (key !== null) return { key, origin: 'entered', remembered: remembered !== null };
  const visitorKey = document.querySelector<HTMLMetaElement>(`meta[name="${VISITOR_KEY_NAME}"]`)?.content;
  return visitorKey === undefined
    ? { key: null, origin: 'none', remembered: false }
    : { key: visitorKey, origin: 'visitor', remembered: false };
}
