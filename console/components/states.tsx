import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isKeyDialogOpen } from '../account.ts';
import type { ApiProblem } from '../api.ts';
import { createStore, useStore } from '../store.ts';

const said = createStore({ text: '', turn: 0 });

/** Says a short sentence to screen readers, politely, without moving the focus: results that arrived, things copied, failures. */
export function announce(text: string): void {
  said.set({ text, turn: said.get().turn + 1 });
}

/** Once on the page. Two regions take turns, so that the same sentence said twice is heard twice. */
export function LiveRegion() {
  const { text, turn } = useStore(said);
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{turn % 2 === 0 ? text : ''}</div>
      <div aria-live="polite">{turn % 2 === 1 ? text : ''}</div>
    </div>
  );
}

/** Nothing to show, and why. */
export function EmptyState({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state loading" role="status">
      Loading {what} …
    </p>
  );
}

/** Codes that a key would answer. */
const NEEDS_KEY: ReadonlySet<string> = new Set(['payment_required', 'api_key_required', 'invalid_api_key']);

interface ProblemStateProps {
  readonly problem: ApiProblem;
  /** Offers to try again, after the time that the API asks for. */
  readonly onRetry?: () => void;
}

/** A refusal in the API’s own words, and what the visitor can do about it. */
export function ProblemState({ problem, onRetry }: ProblemStateProps) {
  const { body } = problem;
  if (NEEDS_KEY.has(body.code)) return <NeedsKey problem={problem} />;
  return (
    <div class="state problem" role="alert">
      <p class="state-title">{body.title}</p>
      <p>{body.detail}</p>
      {body.hint === undefined ? null : <p>{body.hint}</p>}
      {body.code === 'insufficient_qu' ? (
        <p>
          <a href="/plans#top-up">How to get more units</a>
        </p>
      ) : null}
      <div class="row">
        {onRetry === undefined ? null : <RetryButton problem={problem} onRetry={onRetry} />}
        <span class="muted small">
          <code>{body.code}</code>
          {body.request_id === undefined ? null : <> · request {body.request_id}</>}
        </span>
      </div>
    </div>
  );
}

function NeedsKey({ problem: { body } }: { readonly problem: ApiProblem }) {
  return (
    <div class="state problem" role="alert">
      <p class="state-title">
        {body.code === 'invalid_api_key' ? 'This key is not known' : 'This needs a key'}
      </p>
      <p>
        {body.code === 'invalid_api_key'
          ? body.detail
          : 'The API serves this to callers with a key. Status, prices, the SQL schema and cost estimates are free without one.'}
      </p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => isKeyDialogOpen.set(true)}>
          Enter a key
        </button>
        <a href="/plans">Plans and how to get one</a>
      </div>
    </div>
  );
}

function RetryButton({ problem, onRetry }: { readonly problem: ApiProblem; readonly onRetry: () => void }) {
  const [left, setLeft] = useState(problem.retryAfterSeconds ?? 0);
  useEffect(() => setLeft(problem.retryAfterSeconds ?? 0), [problem]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  return (
    <button type="button" class="button" disabled={left > 0} onClick={onRetry}>
      {left > 0 ? `Try again in ${left} s` : 'Try again'}
    </button>
  );
}
