import type { SavedQuery, SaveQueryRequest } from '../wire.ts';
import type { Placeholder } from './query-text.ts';
import { slugOf } from './saved-api.ts';
import { type QueryTab, tabName } from './tabs.ts';

/** The fields of a query that is being saved, and the request made of them. */

type Visibility = SavedQuery['visibility'];

/** What the author says of a placeholder. */
interface WrittenParameter {
  readonly description: string;
  /** The default, or an example where every call must send its own value. */
  readonly value: string;
  readonly isRequired: boolean;
}

export interface Written {
  readonly title: string;
  readonly slug: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly hidesText: boolean;
  readonly refreshSeconds: number;
  readonly maxQu: string;
  readonly priceQu: string;
  readonly parameters: Readonly<Record<string, WrittenParameter>>;
}

/** The first content of the fields: the query that is saved under this name already, so that a new version changes nothing by itself. */
export function firstWritten(
  tab: QueryTab,
  placeholders: readonly Placeholder[],
  saved: SavedQuery | null,
): Written {
  const title = saved === null || saved.title === '' ? tabName(tab) : saved.title;
  return {
    title,
    slug: saved?.slug ?? slugOf(title),
    description: saved?.description ?? '',
    visibility: saved?.visibility ?? 'private',
    hidesText: saved?.hide_text ?? false,
    refreshSeconds: saved?.refresh_seconds ?? 0,
    maxQu: String(saved?.max_qu ?? 1),
    priceQu: String(saved?.price_qu ?? 0),
    parameters: Object.fromEntries(
      placeholders.map(({ name }) => {
        const before = saved?.parameters.find((one) => one.name === name);
        return [
          name,
          {
            description: before?.description ?? '',
            value: tab.params[name] ?? before?.default ?? before?.example ?? '',
            isRequired: before?.required ?? false,
          },
        ];
      }),
    ),
  };
}

export function requestOf(tab: QueryTab, written: Written): SaveQueryRequest {
  const { title, description, visibility, hidesText, refreshSeconds, maxQu, priceQu, parameters } = written;
  return {
    sql: tab.sql,
    title,
    description,
    tier: tab.tier as NonNullable<SaveQueryRequest['tier']>, // of the account’s tiers; the API refuses others
    visibility,
    hide_text: hidesText,
    max_rows: tab.rowsMax,
    max_qu: Number(maxQu),
    price_qu: visibility === 'private' ? 0 : Number(priceQu),
    ...(refreshSeconds === 0 ? {} : { refresh_seconds: refreshSeconds }),
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, { description: meaning, value, isRequired }]) => [
        name,
        { description: meaning, ...(isRequired ? { example: value } : { default: value }) },
      ]),
    ),
  };
}

/** How often the result is made anew, at the cost of the organization. */
const REFRESHES = [
  { value: '0', name: 'Only when it is called' },
  { value: '900', name: 'Every 15 minutes' },
  { value: '3600', name: 'Every hour' },
  { value: '86400', name: 'Every day' },
  { value: '604800', name: 'Every week' },
];

const VISIBILITIES: readonly { readonly value: Visibility; readonly name: string }[] = [
  { value: 'private', name: 'Private: only keys of your organization' },
  { value: 'unlisted', name: 'Unlisted: everyone who has its address' },
  { value: 'public', name: 'Public: listed for everyone' },
];

interface FieldsProps {
  readonly written: Written;
  /** Whether the name in the address is chosen already. */
  readonly isVersion: boolean;
  onChange(part: Partial<Written>): void;
}

/** A name is enough. Who may call it, its address and its limits come second: most queries are saved for oneself. */
export function SavedFields({ written, isVersion, onChange }: FieldsProps) {
  return (
    <>
      <Text
        label="Name"
        maxLength={100}
        isRequired
        value={written.title}
        // The address follows the name until its author writes another.
        onValue={(title) =>
          onChange(
            isVersion || written.slug !== slugOf(written.title) ? { title } : { title, slug: slugOf(title) },
          )
        }
      />
      <ParameterFields written={written} onChange={onChange} />
      <details class="saved-options" open={isVersion && written.visibility !== 'private'}>
        <summary>Share, refresh and limits</summary>
        <Choice
          label="Who may call it"
          choices={VISIBILITIES}
          value={written.visibility}
          onValue={(value) =>
            onChange({ visibility: VISIBILITIES.find((one) => one.value === value)?.value ?? 'private' })
          }
        />
        {written.visibility === 'private' ? null : <PublicFields written={written} onChange={onChange} />}
        <Text
          label="What it answers"
          maxLength={2_000}
          value={written.description}
          onValue={(description) => onChange({ description })}
        />
        {isVersion ? null : (
          <Text
            label="Name in its address"
            maxLength={64}
            isRequired
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            hint="Lower-case letters, digits and single hyphens"
            value={written.slug}
            onValue={(slug) => onChange({ slug })}
          />
        )}
        <Choice
          label="Refresh"
          choices={withOther(written.refreshSeconds)}
          value={String(written.refreshSeconds)}
          onValue={(value) => onChange({ refreshSeconds: Number(value) })}
        />
        <Text
          label="Most Query Units that a run may cost (5 s each)"
          isRequired
          pattern="[1-9]\d*"
          inputMode="numeric"
          hint="A whole number, 1 or more"
          value={written.maxQu}
          onValue={(maxQu) => onChange({ maxQu })}
        />
      </details>
    </>
  );
}

/** A refresh that was set by the API may have another pause. */
function withOther(seconds: number): typeof REFRESHES {
  const value = String(seconds);
  const isKnown = REFRESHES.some((one) => one.value === value);
  return isKnown ? REFRESHES : [...REFRESHES, { value, name: `Every ${value} s` }];
}

type PartProps = Pick<FieldsProps, 'written' | 'onChange'>;

function PublicFields({ written, onChange }: PartProps) {
  return (
    <>
      <Text
        label="Your price for each call of others, in Query Units"
        isRequired
        pattern="\d+"
        inputMode="numeric"
        hint="A whole number"
        value={written.priceQu}
        onValue={(priceQu) => onChange({ priceQu })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={written.hidesText}
          onChange={({ currentTarget }) => onChange({ hidesText: currentTarget.checked })}
        />
        Hide the SQL from others
      </label>
    </>
  );
}

function ParameterFields({ written: { parameters }, onChange }: PartProps) {
  const change = (name: string, part: Partial<WrittenParameter>): void => {
    const before = parameters[name];
    if (before !== undefined) onChange({ parameters: { ...parameters, [name]: { ...before, ...part } } });
  };
  return Object.entries(parameters).map(([name, { description, value, isRequired }]) => (
    <fieldset key={name} class="saved-parameter">
      <legend class="mono">{name}</legend>
      <Text
        label="Meaning"
        maxLength={500}
        value={description}
        onValue={(text) => change(name, { description: text })}
      />
      <Text
        label={isRequired ? 'Example' : 'Default'}
        isRequired={isRequired}
        value={value}
        onValue={(text) => change(name, { value: text })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isRequired}
          onChange={({ currentTarget }) => change(name, { isRequired: currentTarget.checked })}
        />
        Every call must send it
      </label>
    </fieldset>
  ));
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly hint?: string;
  readonly inputMode?: 'numeric';
  readonly isRequired?: boolean;
  onValue(value: string): void;
}

export function Text({ label, hint, isRequired = false, onValue, ...input }: TextProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        required={isRequired}
        {...(hint === undefined ? {} : { title: hint })}
        {...input}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly name: string }[];
  readonly value: string;
  onValue(value: string): void;
}

function Choice({ label, choices, value, onValue }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  );
}
