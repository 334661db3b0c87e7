import { useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { announce, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { useAnswer } from '../use-answer.ts';
import type { MadeShare, ResultShares } from '../wire.ts';

interface ShareResultProps {
  readonly resultId: string;
  /** The title of the page of a link; empty: it follows from the columns. */
  readonly title: string;
  /** The choice of chart, as it is written in a link. */
  readonly chart: string | null;
}

/** Makes links to a kept result that open without a key, and revokes them. */
export function ShareResult(props: ShareResultProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="share-result">
      <button
        type="button"
        class="button small-button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Share this result
      </button>
      {isOpen ? <Links {...props} /> : null}
    </div>
  );
}

function Links({ resultId, title, chart }: ShareResultProps) {
  const path = `/results/${segment(resultId)}/shares`;
  const { answer, problem, reload } = useAnswer<ResultShares>(path);
  const [made, setMade] = useState<MadeShare | null>(null);
  const [failed, setFailed] = useState<ApiProblem | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setFailed(null);
    try {
      await act();
      reload();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setFailed(error);
    }
  };
  const make = (): Promise<void> =>
    attempt(async () => {
      setMade(await change<MadeShare>('POST', path, { title, ...(chart === null ? {} : { chart }) }));
      announce('The link is made');
    });
  const revoke = (id: string): Promise<void> =>
    attempt(async () => {
      await change('DELETE', `${path}/${segment(id)}`);
      if (made?.share.id === id) setMade(null);
      announce('The link is revoked');
    });
  const shown = failed ?? problem;
  const open = (answer?.shares ?? []).filter(({ state }) => state === 'open');
  const address = made === null ? '' : `${location.origin}/console/shared/${made.token}`;
  return (
    <div class="share-links">
      <p class="small muted">
        Everybody who has the link sees these rows, the chart and the query, without a key, until the result
        expires or you revoke the link.
      </p>
      {made === null ? (
        <button type="button" class="button small-button" onClick={() => void make()}>
          Make a link
        </button>
      ) : (
        <p class="row">
          <input class="share-address" aria-label="Link" readOnly value={address} />
          <CopyButton text={address} what="link" label="Copy link" />
          <span class="small muted">It is shown this once.</span>
        </p>
      )}
      {shown === null ? null : <ProblemState problem={shown} />}
      {open.length === 0 ? null : (
        <ul class="share-list" aria-label="Links to this result">
          {open.map(({ id, created_at: at, expires_at: until }) => (
            <li key={id} class="row small">
              <span>
                made <Time at={at} ago />, open until <Time at={until} />
              </span>
              <button type="button" class="button small-button danger" onClick={() => void revoke(id)}>
                Revoke
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
