import { isAddressText, keptCase } from '../account-texts.ts';

/** What a value of a placeholder must look like, by its type. Pure, so that tests can run it outside a browser. */

interface FieldLook {
  /** An example, shown while the field is empty. */
  readonly example: string;
  /** The choices of a closed type; null for a free text. */
  readonly choices: readonly string[] | null;
  readonly inputMode: 'numeric' | 'decimal' | 'text';
}

/** The engine reads it as NULL. */
export const NULL_TEXT = '\\N';

/** `Nullable(LowCardinality(UInt8))` → `UInt8`. */
function innerType(type: string): string {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  return inner === undefined ? type : innerType(inner.trim());
}

export function isNullable(type: string): boolean {
  return /^(?:LowCardinality\()?Nullable\(/.test(type);
}

export function fieldLook(type: string): FieldLook {
  const inner = innerType(type);
  const text = (example: string, inputMode: FieldLook['inputMode'] = 'text'): FieldLook => ({
    example,
    inputMode,
    choices: null,
  });
  if (inner === 'Bool') return { ...text(''), choices: ['true', 'false'] };
  if (inner.startsWith('Enum')) return { ...text(''), choices: enumNames(inner) };
  if (/^U?Int\d/.test(inner)) return text('0', 'numeric');
  if (/^(Float|BFloat|Decimal)/.test(inner)) return text('0.00', 'decimal');
  if (/^Date(32)?$/.test(inner)) return text('2026-11-20');
  if (inner.startsWith('DateTime')) return text('2026-11-20 12:00:00');
  if (/^Array\((Fixed)?String\)$|^Array\(LowCardinality/.test(inner)) return text("['a', 'b']");
  if (inner.startsWith('Array(')) return text('[1, 2]');
  return text('');
}

function enumNames(type: string): string[] {
  return [...type.matchAll(/'((?:[^'\\]|\\.)*)('?)/g)]
    .filter(([, , close]) => close !== '')
    .map(([, name = '']) => name.replace(/\\(.)/g, '$1'));
}

/** The fault of a value, as a sentence that says what would be right; null where there is none. The engine has the last word. */
export function valueFault(type: string, value: string): string | null {
  if (value === NULL_TEXT) return isNullable(type) ? null : 'This type has no NULL.';
  const inner = innerType(type);
  const { choices } = fieldLook(type);
  if (choices !== null) return choices.includes(value) ? null : `Choose one of ${choices.join(', ')}.`;
  if (/String|UUID|IPv/.test(inner) && !inner.startsWith('Array(')) return addressFault(value);
  return value.trim() === '' ? 'Enter a value.' : formFault(inner, value.trim());
}

/** Of the types that are written in one form. */
function formFault(inner: string, value: string): string | null {
  const integer = /^(U?)Int(\d+)$/.exec(inner);
  if (integer !== null) return integerFault(value, integer[1] === 'U', Number(integer[2]));
  const form = FORMS.find(({ type }) => type.test(inner));
  return form === undefined || form.isGood(value) ? null : form.fault;
}

const FORMS: readonly { readonly type: RegExp; readonly fault: string; isGood(value: string): boolean }[] = [
  {
    type: /^(Float|BFloat|Decimal)/,
    fault: 'Enter a number, such as 0.5.',
    isGood: (value) => /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(value),
  },
  { type: /^Date(32)?$/, fault: 'Enter a date, such as 2026-11-20.', isGood: isDate },
  {
    type: /^DateTime/,
    fault: 'Enter a time in UTC, such as 2026-11-20 12:00:00.',
    isGood: isTime,
  },
  {
    type: /^Array\(/,
    fault: "Enter a list, such as ['a', 'b'].",
    isGood: (value) => /^\[[\s\S]*\]$/.test(value),
  },
];

/** Hex is lower-case in every table, so that another one finds nothing. */
function addressFault(value: string): string | null {
  const kept = keptCase(value);
  return kept === value || !isAddressText(kept) ? null : 'Hex addresses are lower-case here.';
}

function integerFault(value: string, isUnsigned: boolean, bits: number): string | null {
  if (!/^-?\d+$/.test(value)) return 'Enter a whole number.';
  const least = isUnsigned ? 0n : -(2n ** BigInt(bits - 1));
  const most = 2n ** BigInt(isUnsigned ? bits : bits - 1) - 1n;
  const number = BigInt(value);
  return number >= least && number <= most ? null : `Enter a whole number from ${least} to ${most}.`;
}

function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

/** As the API reads it: `2026-11-20 12:00:00`, ISO 8601, or seconds since 1970. */
function isTime(value: string): boolean {
  if (/^\d{9,11}(\.\d+)?$/.test(value)) return true;
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(
    value,
  );
  return iso !== null && !Number.isNaN(Date.parse(`${iso[1]}T${iso[2] ?? '00:00:00'}Z`));
}
