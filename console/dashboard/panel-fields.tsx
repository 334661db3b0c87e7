import { PANEL_CHARTS, PANEL_WIDTHS } from '../../core/domain/dashboard.ts';
import type { SavedQuery } from '../wire.ts';
import type { DraftPanel } from './drafts.ts';

/** The fields of one panel of a dashboard that is being written. */

const KINDS: readonly { readonly value: DraftPanel['kind']; readonly name: string }[] = [
  { value: 'figures', name: 'Figures of its first row' },
  { value: 'chart', name: 'Chart' },
  { value: 'table', name: 'Table' },
];
const WIDTH_NAMES: Readonly<Record<DraftPanel['width'], string>> = {
  third: 'A third',
  half: 'Half',
  two_thirds: 'Two thirds',
  full: 'Full width',
};

interface PanelFieldsProps {
  readonly panel: DraftPanel;
  readonly place: string;
  readonly queries: readonly SavedQuery[];
  onChange(part: Partial<DraftPanel>): void;
  onMove(by: -1 | 1): void;
  onRemove(): void;
}

export function PanelFields({ panel, place, queries, onChange, onMove, onRemove }: PanelFieldsProps) {
  const isText = panel.kind === 'text';
  return (
    <fieldset class={`panel board-draft board-panel is-${panel.width}`}>
      <legend>{place}</legend>
      <label class="filter">
        <span>Title</span>
        <input
          type="text"
          value={panel.title}
          maxLength={100}
          onInput={({ currentTarget }) => onChange({ title: currentTarget.value })}
        />
      </label>
      {isText ? (
        <label class="filter">
          <span>Text</span>
          <textarea
            rows={4}
            maxLength={4_000}
            value={panel.text}
            onInput={({ currentTarget }) => onChange({ text: currentTarget.value })}
          />
        </label>
      ) : (
        <QueryFields panel={panel} queries={queries} onChange={onChange} />
      )}
      <Choice
        label="Width"
        value={panel.width}
        options={PANEL_WIDTHS.map((value) => ({ value, name: WIDTH_NAMES[value] }))}
        onValue={(value) => {
          const width = PANEL_WIDTHS.find((one) => one === value);
          if (width !== undefined) onChange({ width });
        }}
      />
      <div class="row">
        <button type="button" class="button" onClick={() => onMove(-1)}>
          Move up<span class="visually-hidden"> {place}</span>
        </button>
        <button type="button" class="button" onClick={() => onMove(1)}>
          Move down<span class="visually-hidden"> {place}</span>
        </button>
        <button type="button" class="button" onClick={onRemove}>
          Remove<span class="visually-hidden"> {place}</span>
        </button>
      </div>
    </fieldset>
  );
}

const GUESSED = '';

function QueryFields({ panel, queries, onChange }: Pick<PanelFieldsProps, 'panel' | 'queries' | 'onChange'>) {
  return (
    <>
      <Choice
        label="Saved query"
        value={panel.query ?? ''}
        options={queries.map(({ slug, title }) => ({ value: slug, name: title === '' ? slug : title }))}
        onValue={(query) => onChange({ query })}
      />
      <Choice
        label="Shown as"
        value={panel.kind}
        options={KINDS}
        onValue={(value) => {
          const kind = KINDS.find((one) => one.value === value)?.value;
          if (kind !== undefined) onChange({ kind, ...(kind === 'chart' ? {} : { chart: null }) });
        }}
      />
      {panel.kind === 'chart' ? (
        <Choice
          label="Chart"
          value={panel.chart?.kind ?? GUESSED}
          options={[
            { value: GUESSED, name: 'what fits the columns' },
            ...PANEL_CHARTS.map((value) => ({ value, name: value })),
          ]}
          onValue={(value) => {
            const kind = PANEL_CHARTS.find((one) => one === value);
            onChange({ chart: kind === undefined ? null : { kind, x: null, y: [], by: null } });
          }}
        />
      ) : null}
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  onValue(value: string): void;
}

export function Choice({ label, value, options, onValue }: ChoiceProps) {
  const isListed = options.some((option) => option.value === value);
  return (
    <label class="filter">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {isListed ? null : <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
