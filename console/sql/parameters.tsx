import { useState } from 'preact/hooks';
import { fieldLook, isNullable, NULL_TEXT, valueFault } from './parameter-values.ts';
import type { Placeholder } from './query-text.ts';

type Values = Readonly<Record<string, string>>;

interface ParametersProps {
  readonly placeholders: readonly Placeholder[];
  readonly values: Values;
  /** After a run was asked for: then missing values are named, too. */
  readonly showsAll: boolean;
  onChange(values: Values): void;
}

/** A field for every placeholder `{name:Type}`. The engine binds the values; they are never inserted into the text. */
export function Parameters({ placeholders, values, showsAll, onChange }: ParametersProps) {
  if (placeholders.length === 0) return null;
  return (
    <fieldset class="parameters">
      <legend>Parameters</legend>
      {placeholders.map((placeholder) => (
        <Field
          key={`${placeholder.name} ${placeholder.type}`}
          placeholder={placeholder}
          value={values[placeholder.name]}
          isChecked={showsAll}
          onValue={(value) => onChange(withValue(values, placeholder.name, value))}
        />
      ))}
    </fieldset>
  );
}

function withValue(values: Values, name: string, value: string | null): Values {
  const { [name]: _old, ...others } = values;
  return value === null ? others : { ...others, [name]: value };
}

/** The placeholders whose values the API would refuse, or that have none. */
export function faultyPlaceholders(
  placeholders: readonly Placeholder[],
  values: Values,
): readonly Placeholder[] {
  return placeholders.filter(({ name, type }) => faultOf(type, values[name]) !== null);
}

function faultOf(type: string, value: string | undefined): string | null {
  // An empty text is a value, but a person who leaves the field alone does not mean it.
  return value === undefined ? 'Enter a value.' : valueFault(type, value);
}

export function fieldId(name: string): string {
  return `parameter-${name}`;
}

interface FieldProps {
  readonly placeholder: Placeholder;
  readonly value: string | undefined;
  readonly isChecked: boolean;
  onValue(value: string | null): void;
}

/** Its fault is shown once the visitor has left it, and goes as soon as the value is right. */
function Field({ placeholder: { name, type }, value, isChecked, onValue }: FieldProps) {
  const [wasLeft, setLeft] = useState(false);
  const id = fieldId(name);
  const fault = faultOf(type, value);
  const shown = isChecked || (wasLeft && value !== undefined) ? fault : null;
  const isNull = value === NULL_TEXT;
  const described = shown === null ? {} : { 'aria-describedby': `${id}-fault` };
  return (
    <div class={shown === null ? 'parameter' : 'parameter faulty'}>
      <label for={id}>
        <span class="mono">{name}</span> <span class="muted small">{type}</span>
      </label>
      <Input
        {...{ id, type, isNull, described }}
        value={isNull ? '' : (value ?? '')}
        isFaulty={shown !== null}
        onValue={onValue}
        onLeave={() => setLeft(true)}
      />
      {isNullable(type) ? (
        <label class="small">
          <input type="checkbox" checked={isNull} onChange={() => onValue(isNull ? null : NULL_TEXT)} /> NULL
        </label>
      ) : null}
      {shown === null ? null : (
        <p class="bad small" id={`${id}-fault`}>
          {shown}
        </p>
      )}
    </div>
  );
}

interface InputProps {
  readonly id: string;
  readonly type: string;
  readonly value: string;
  readonly isNull: boolean;
  readonly isFaulty: boolean;
  readonly described: { readonly 'aria-describedby'?: string };
  onValue(value: string | null): void;
  onLeave(): void;
}

function Input({ id, type, value, isNull, isFaulty, described, onValue, onLeave }: InputProps) {
  const { choices, example, inputMode } = fieldLook(type);
  if (choices !== null)
    return (
      <select
        id={id}
        value={value}
        disabled={isNull}
        aria-invalid={isFaulty}
        {...described}
        onBlur={onLeave}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      >
        <option value="" disabled>
          Choose
        </option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  return (
    <input
      type="text"
      id={id}
      class="mono"
      spellcheck={false}
      autocomplete="off"
      inputMode={inputMode}
      placeholder={example}
      disabled={isNull}
      aria-invalid={isFaulty}
      {...described}
      value={value}
      onBlur={onLeave}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}
