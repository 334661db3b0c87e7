import type { Placeholder } from './placeholders.ts';

interface ParametersProps {
  readonly placeholders: readonly Placeholder[];
  readonly values: Readonly<Record<string, string>>;
  onChange(values: Readonly<Record<string, string>>): void;
}

/** A field for every `{name:Type}` of the query. The engine binds the values; they are never pasted into the text. */
export function Parameters({ placeholders, values, onChange }: ParametersProps) {
  if (placeholders.length === 0) return null;
  return (
    <fieldset class="parameters">
      <legend class="visually-hidden">Values of the placeholders</legend>
      {placeholders.map(({ name, type }) => (
        <label key={name}>
          <span>
            <span class="mono">{name}</span> <span class="muted small">{type}</span>
          </span>
          <input
            type="text"
            class="mono"
            spellcheck={false}
            autocomplete="off"
            value={values[name] ?? ''}
            onInput={({ currentTarget }) => onChange({ ...values, [name]: currentTarget.value })}
          />
        </label>
      ))}
    </fieldset>
  );
}
