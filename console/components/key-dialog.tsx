import { useEffect, useRef, useState } from 'preact/hooks';
import { account, accountProblem, enterKey, forgetKey, isKeyDialogOpen, session } from '../api.ts';
import { countText } from '../format.ts';
import { useStore } from '../store.ts';
import { announce } from './states.tsx';

/** The dialog that takes or forgets a key, with the facts about its account. */
export function KeyDialog() {
  const isOpen = useStore(isKeyDialogOpen);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="key-title"
      onClose={() => isKeyDialogOpen.set(false)}
    >
      {isOpen ? <KeyForm /> : null}
    </dialog>
  );
}

function KeyForm() {
  const { origin, remembered, isRefused } = useStore(session);
  const [text, setText] = useState('');
  const [remember, setRemember] = useState(remembered);
  const use = (event: SubmitEvent): void => {
    event.preventDefault();
    const key = text.trim();
    if (key === '') return;
    enterKey(key, { remember });
    setText('');
    announce('Key accepted');
  };
  return (
    <form method="dialog" onSubmit={use}>
      <h2 id="key-title">Your key</h2>
      {isRefused ? (
        <p class="bad" role="alert">
          The service does not know your key any more: it was revoked or has expired. Enter another one, or
          forget it.
        </p>
      ) : null}
      <AccountFacts />
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          name="key"
          autocomplete="off"
          spellcheck={false}
          placeholder="six_live_…"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={remember}
          onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
        />
        <span>Remember on this device (otherwise until the tab is closed)</span>
      </label>
      <p class="muted small">
        The key is stored in this browser and sent to this API only, in a header.{' '}
        <a href="/plans">Plans and how to get a key</a>,{' '}
        <a href="/console/account" onClick={() => isKeyDialogOpen.set(false)}>
          Your account and all prices
        </a>
      </p>
      <div class="row end">
        {origin === 'entered' || isRefused ? (
          <button type="button" class="button" onClick={forgetKey}>
            Forget the key
          </button>
        ) : null}
        <button type="button" class="button" onClick={() => isKeyDialogOpen.set(false)}>
          Close
        </button>
        <button type="submit" class="button primary" disabled={text.trim() === ''}>
          Use this key
        </button>
      </div>
    </form>
  );
}

function AccountFacts() {
  const { origin } = useStore(session);
  const known = useStore(account);
  const problem = useStore(accountProblem);
  if (problem !== null) return <p class="bad">{problem.body.detail}</p>;
  if (known === null) return <p class="muted">Loading your account …</p>;
  return (
    <>
      {origin === 'visitor' ? (
        <p>
          This deployment lends all visitors one key to try it with. Downloads, jobs and saved queries need a
          key of your own.
        </p>
      ) : null}
      <dl class="facts">
        <dt>Organization</dt>
        <dd>{known.organisation?.display_name ?? 'none'}</dd>
        <dt>Plan</dt>
        <dd>{known.tier}</dd>
        <dt>Lane</dt>
        <dd>{known.lane}</dd>
        <dt>Balance</dt>
        <dd>
          {known.balance === null
            ? known.balance_note
            : `${countText(known.balance.available_qu)} Query Units`}
        </dd>
      </dl>
      <p class="muted small">{known.summary}</p>
    </>
  );
}
