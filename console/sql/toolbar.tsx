import type { ComponentChildren } from 'preact';
import { CopyButton } from '../components/copy-button.tsx';
import { countText } from '../format.ts';
import type { SqlTierAccess } from '../wire.ts';

/** Rows that a run keeps at most. They can be read and downloaded for a week, without another charge. */
const ROW_CHOICES = [1_000, 10_000, 100_000, 1_000_000] as const;

interface ToolbarProps {
  readonly isRunning: boolean;
  readonly isCancelling: boolean;
  readonly canRun: boolean;
  readonly tier: string;
  readonly tiers: readonly SqlTierAccess[];
  readonly rowsMax: number;
  readonly shareUrl: string;
  /** The buttons of the saved query. */
  readonly children?: ComponentChildren;
  onRun(): void;
  onCancel(): void;
  onTier(tier: string): void;
  onRowsMax(rows: number): void;
  onFormat(): void;
}

export function Toolbar(props: ToolbarProps) {
  return (
    <div class="sql-tools">
      <RunButton {...props} />
      <button
        type="button"
        class="button"
        disabled={!props.canRun}
        title="Lays the query out in lines; only white space changes"
        onClick={props.onFormat}
      >
        Format
      </button>
      <TierChoice {...props} />
      <label>
        <span>Rows</span>
        <select
          value={props.rowsMax}
          title="The most rows that a run keeps for the table and for downloads"
          onChange={({ currentTarget }) => props.onRowsMax(Number(currentTarget.value))}
        >
          {rowChoices(props.rowsMax).map((rows) => (
            <option key={rows} value={rows}>
              {countText(rows)}
            </option>
          ))}
        </select>
      </label>
      <div class="row sql-tools-end">
        {props.children}
        <CopyButton text={props.shareUrl} what="link to this query" label="Copy link" />
      </div>
    </div>
  );
}

/** A saved query may have another limit. */
function rowChoices(chosen: number): readonly number[] {
  return [...new Set([...ROW_CHOICES, chosen])].toSorted((a, b) => a - b);
}

function RunButton({ isRunning, isCancelling, canRun, onRun, onCancel }: ToolbarProps) {
  if (isRunning)
    return (
      <button type="button" class="button danger" disabled={isCancelling} onClick={onCancel}>
        {isCancelling ? 'Cancelling' : 'Cancel'}
      </button>
    );
  return (
    <button
      type="button"
      class="button primary"
      disabled={!canRun}
      title="Ctrl+Enter or ⌘+Enter"
      onClick={onRun}
    >
      <span aria-hidden="true">▶</span> Run
    </button>
  );
}

function TierChoice({ tier, tiers, onTier }: Pick<ToolbarProps, 'tier' | 'tiers' | 'onTier'>) {
  const known = tiers.some((one) => one.tier === tier);
  return (
    <label>
      <span>Tier</span>
      <select
        value={tier}
        title="How long the query may run, and therefore what it may cost"
        onChange={({ currentTarget }) => onTier(currentTarget.value)}
      >
        {known ? null : <option value={tier}>{tier}</option>}
        {tiers.map(({ tier: name, allowed }) => (
          <option key={name} value={name} disabled={!allowed && name !== tier}>
            {name}
            {allowed ? '' : ', not in your plan'}
          </option>
        ))}
      </select>
    </label>
  );
}
