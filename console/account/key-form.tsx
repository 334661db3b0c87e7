import { useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { ProblemState } from '../components/states.tsx';
import type { AccountKey, MadeKey, RoutePrice } from '../wire.ts';

interface KeyFormProps {
  /** The key whose limits are changed; null makes a new one. */
  readonly of: AccountKey | null;
  /** Operations that a key can be limited to. */
  readonly routes: readonly RoutePrice[];
  onDone(made: MadeKey | null): void;
  onCancel(): void;
}

interface Draft {
  readonly label: string;
  readonly unitsPerDay: string;
  /** YYYY-MM-DD; the key is valid through this day. */
  readonly lastDay: string;
  /** None: all. */
  readonly operations: readonly string[];
  readonly managesKeys: boolean;
}

const LABEL_MAX = 100;

/** Makes a key, or changes the limits of one. */
export function KeyForm({ of, routes, onDone, onCancel }: KeyFormProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(of));
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isSending, setSending] = useState(false);
  const set = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setProblem(null);
    try {
      if (of === null) onDone(await change<MadeKey>('POST', '/account/keys', bodyOf(draft)));
      else {
        await change('PATCH', `/account/keys/${segment(of.id)}`, {
          ...bodyOf(draft),
          ...clearedOf(draft, of),
        });
        onDone(null);
      }
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      setSending(false);
    }
  };
  return (
    <form
      class="card key-form"
      aria-label={of === null ? 'New key' : `Limits of ${of.label}`}
      onSubmit={send}
    >
      <h2>{of === null ? 'New key' : `Limits of ${of.label}`}</h2>
      <div class="key-fields">
        <label class="field">
          <span>Purpose</span>
          <input
            type="text"
            required
            maxLength={LABEL_MAX}
            value={draft.label}
            placeholder="research agent"
            onInput={({ currentTarget }) => set({ label: currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Query Units a day</span>
          <input
            type="number"
            min="1"
            step="1"
            inputMode="numeric"
            value={draft.unitsPerDay}
            placeholder="no limit"
            disabled={draft.managesKeys}
            onInput={({ currentTarget }) => set({ unitsPerDay: currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Last day (UTC)</span>
          <input
            type="date"
            min={new Date().toISOString().slice(0, 10)}
            value={draft.lastDay}
            onInput={({ currentTarget }) => set({ lastDay: currentTarget.value })}
          />
        </label>
      </div>
      <OperationChoice draft={draft} routes={routes} set={set} />
      <label class="check">
        <input
          type="checkbox"
          checked={draft.managesKeys}
          onChange={({ currentTarget }) =>
            set({
              managesKeys: currentTarget.checked,
              ...(currentTarget.checked ? { unitsPerDay: '', operations: [] } : {}),
            })
          }
        />
        <span>May make, change and revoke keys (then it has no budget and may call everything)</span>
      </label>
      {problem === null ? null : <ProblemState problem={problem} />}
      <div class="row end">
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={isSending || draft.label.trim() === ''}>
          {of === null ? 'Make the key' : 'Save the limits'}
        </button>
      </div>
    </form>
  );
}

interface OperationChoiceProps {
  readonly draft: Draft;
  readonly routes: readonly RoutePrice[];
  set(part: Partial<Draft>): void;
}

function OperationChoice({ draft, routes, set }: OperationChoiceProps) {
  const { operations, managesKeys } = draft;
  const toggle = (operation: string, isOn: boolean): void =>
    set({ operations: isOn ? [...operations, operation] : operations.filter((one) => one !== operation) });
  return (
    <details class="operation-choice">
      <summary>
        {operations.length === 0
          ? 'May call every operation'
          : `May call ${operations.length} of ${routes.length} operations`}
      </summary>
      <div class="operation-list">
        {routes.map(({ operation }) => (
          <label key={operation} class="check">
            <input
              type="checkbox"
              disabled={managesKeys}
              checked={operations.includes(operation)}
              onChange={({ currentTarget }) => toggle(operation, currentTarget.checked)}
            />
            <span class="mono">{operation}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

function draftOf(key: AccountKey | null): Draft {
  return {
    label: key?.label ?? '',
    unitsPerDay: key?.units_per_day?.toString() ?? '',
    lastDay: key?.expires_at?.slice(0, 10) ?? '',
    operations: key?.operations ?? [],
    managesKeys: key?.manages_keys ?? false,
  };
}

/** Fields that are empty are not sent: the API takes null for what was left out. */
function bodyOf({ label, unitsPerDay, lastDay, operations, managesKeys }: Draft) {
  return {
    label: label.trim(),
    manages_keys: managesKeys,
    ...(unitsPerDay === '' ? {} : { units_per_day: Number(unitsPerDay) }),
    ...(lastDay === '' ? {} : { expires_at: `${lastDay}T23:59:59Z` }),
    ...(operations.length === 0 ? {} : { operations }),
  };
}

/** Limits that were emptied. */
function clearedOf(draft: Draft, key: AccountKey) {
  const clear = [
    ...(draft.unitsPerDay === '' && key.units_per_day !== null ? ['units_per_day'] : []),
    ...(draft.lastDay === '' && key.expires_at !== null ? ['expires_at'] : []),
    ...(draft.operations.length === 0 && key.operations !== null ? ['operations'] : []),
  ];
  return clear.length === 0 ? {} : { clear };
}
