import { canGroup, hasRightAxis, numberColumns } from './guess.ts';
import { KIND_NAMES } from './labels.ts';
import { CHART_KINDS, type ChartData, type ChartSpec } from './spec.ts';

/** What a visitor can choose about a chart. */

interface ControlsProps {
  readonly data: ChartData;
  readonly spec: ChartSpec;
  onSpec(spec: ChartSpec): void;
}

export function ChartControls({ data, spec, onSpec }: ControlsProps) {
  const names = data.columns.map(({ name }) => name);
  const change = (part: Partial<ChartSpec>): void => onSpec({ ...spec, ...part });
  const splits = names.filter((name) => name !== spec.x && !spec.y.includes(name));
  return (
    <div class="chart-controls">
      <Choice
        name="Chart"
        value={spec.kind}
        options={CHART_KINDS.map((kind) => ({ value: kind, text: KIND_NAMES[kind] }))}
        onChoice={(value) => {
          const kind = CHART_KINDS.find((known) => known === value);
          if (kind !== undefined) change({ kind, isZeroBased: kind !== 'scatter' });
        }}
      />
      {spec.kind === 'number' ? null : (
        <>
          <Choice
            name="Along"
            value={spec.x}
            options={names.map((name) => ({ value: name, text: name }))}
            onChoice={(x) => change({ x })}
          />
          <Choice
            name="Split by"
            value={spec.by ?? ''}
            options={[{ value: '', text: 'nothing' }, ...splits.map((name) => ({ value: name, text: name }))]}
            onChoice={(by) => change({ by: by === '' ? null : by })}
          />
        </>
      )}
      <Measures data={data} spec={spec} onSpec={onSpec} />
      {canGroup(data, spec) ? (
        <Check name="Seven and other" isOn={spec.isGrouped} onCheck={(isGrouped) => change({ isGrouped })} />
      ) : null}
      {spec.kind === 'stacked' || spec.kind === 'number' ? null : (
        <Check name="Logarithmic" isOn={spec.isLog} onCheck={(isLog) => change({ isLog })} />
      )}
      {spec.isLog || !['line', 'scatter'].includes(spec.kind) ? null : (
        <Check name="From zero" isOn={spec.isZeroBased} onCheck={(isZeroBased) => change({ isZeroBased })} />
      )}
    </div>
  );
}

/** The columns of numbers: one where a column is split, otherwise as many as one likes, each on the left or on the right axis. */
function Measures({ data, spec, onSpec }: ControlsProps) {
  const numbers = numberColumns(data);
  if (spec.kind !== 'number' && (spec.by !== null || spec.kind === 'heatmap'))
    return (
      <Choice
        name="Show"
        value={spec.y[0] ?? ''}
        options={numbers.map((name) => ({ value: name, text: name }))}
        onChoice={(name) => onSpec({ ...spec, y: [name] })}
      />
    );
  const toggle = (name: string): void => {
    const y = spec.y.includes(name) ? spec.y.filter((one) => one !== name) : [...spec.y, name];
    if (y.length > 0) onSpec({ ...spec, y, right: spec.right.filter((one) => y.includes(one)) });
  };
  const move = (name: string): void => {
    const right = spec.right.includes(name)
      ? spec.right.filter((one) => one !== name)
      : [...spec.right, name];
    onSpec({ ...spec, right });
  };
  const canMove = spec.y.length > 1 && hasRightAxis(spec.kind, spec.by);
  return (
    <fieldset class="chart-measures">
      <legend>Show</legend>
      {numbers.map((name) => (
        <span key={name} class="chart-measure">
          <Check name={name} isOn={spec.y.includes(name)} onCheck={() => toggle(name)} />
          {canMove && spec.y.includes(name) ? (
            <Check
              name="right axis"
              label={`${name} on the right axis`}
              isOn={spec.right.includes(name)}
              onCheck={() => move(name)}
            />
          ) : null}
        </span>
      ))}
    </fieldset>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  onChoice(value: string): void;
}

function Choice({ name, value, options, onChoice }: ChoiceProps) {
  return (
    <label>
      <span>{name}</span>
      <select aria-label={name} value={value} onChange={({ currentTarget }) => onChoice(currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CheckProps {
  readonly name: string;
  /** The accessible name, where `name` alone says too little. */
  readonly label?: string;
  readonly isOn: boolean;
  onCheck(isOn: boolean): void;
}

function Check({ name, label = name, isOn, onCheck }: CheckProps) {
  return (
    <label>
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
        onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
      />
      <span>{name}</span>
    </label>
  );
}
