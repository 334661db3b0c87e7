import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiProblem, isKeyDialogOpen, useIsLentKey } from '../api.ts';
import { createStore, useStore } from '../store.ts';
import { SkeletonLines } from './skeleton.tsx';

const announced = createStore({ text: '', turn: 0 });

/** Has screen readers say a short sentence without moving the focus: that results arrived, a text was copied, something failed. */
export function announce(text: string): void {
  announced.set({ text, turn: announced.get().turn + 1 });
}

/** Once on the page. Two regions take turns, so that a repeated sentence is read again. */
export function LiveRegion() {
  const { text, turn } = useStore(announced);
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{turn % 2 === 0 ? text : ''}</div>
      <div aria-live="polite">{turn % 2 === 1 ? text : ''}</div>
    </div>
  );
}

interface EmptyStateProps {
  /** The empty thing: `No settlements match these filters`. */
  readonly title: string;
  /** Why, and what the visitor can do about it. */
  readonly children?: ComponentChildren;
  /** Buttons and links that lead on. */
  readonly actions?: ComponentChildren;
}

/** In place of content that does not exist, with the reason and the way on. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
      {actions === undefined ? null : <div class="row">{actions}</div>}
    </div>
  );
}

/** In place of content that is being read. */
export function Loading({ what, lines = 3 }: { readonly what: string; readonly lines?: number }) {
  return <SkeletonLines what={what} lines={lines} />;
}

/** Errors that entering a key can solve. */
const NEEDS_KEY: ReadonlySet<string> = new Set(['payment_required', 'api_key_required', 'invalid_api_key']);

interface ProblemStateProps {
  readonly problem: ApiProblem;
  /** Adds a button that repeats the request, enabled after the Retry-After of the problem. */
  readonly onRetry?: () => void;
}

/** The problem in the words of the API, and what the visitor can do about it. */
export function ProblemState({ problem, onRetry }: ProblemStateProps) {
  const { body } = problem;
  const isLent = useIsLentKey();
  if (isLent && body.code === 'key_restricted') return <NeedsOwnKey />;
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
      <p class="state-title">{body.code === 'invalid_api_key' ? 'Unknown key' : 'This needs a key'}</p>
      <p>
        {body.code === 'invalid_api_key'
          ? body.detail
          : 'The API serves this to callers with a key only. Status, prices, the SQL schema and cost estimates need none.'}
      </p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => isKeyDialogOpen.set(true)}>
          Enter a key
        </button>
        <a href="/plans">Plans and how to get a key</a>
      </div>
    </div>
  );
}

/** In place of what the key that all visitors share does not have. */
export function NeedsOwnKey() {
  return (
    <EmptyState
      title="This needs a key of your own"
      actions={
        <>
          <button type="button" class="button primary" onClick={() => isKeyDialogOpen.set(true)}>
            Enter a key
          </button>
          <a href="/plans">Plans and how to get a key</a>
        </>
      }
    >
      <p>All visitors share the key of this page. It has no history, no jobs and no saved queries.</p>
    </EmptyState>
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
