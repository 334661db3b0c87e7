import { CopyButton } from '../components/copy-button.tsx';
import { countText } from '../format.ts';
import type { SqlTierAccess } from '../wire.ts';

/** Limits of rows in the table; whole results can be downloaded. */
const ROW_CHOICES = [100, 1_000, 10_000] as const;

interface ToolbarProps {
  readonly isRunning: boolean;
  readonly canRun: boolean;
  readonly tier: string;
  readonly tiers: readonly SqlTierAccess[];
  readonly rowsMax: number;
  readonly shareUrl: string;
  readonly examples: readonly { readonly question: string; readonly sql: string }[];
  onRun(): void;
  onCancel(): void;
  onTier(tier: string): void;
  onRowsMax(rows: number): void;
  onExample(sql: string): void;
}

export function Toolbar(props: ToolbarProps) {
  const { isRunning, canRun, onRun, onCancel } = props;
  return (
    <div class="sql-tools">
      {isRunning ? (
        <button type="button" class="button danger" onClick={onCancel}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="button primary"
          disabled={!canRun}
          title="Ctrl+Enter or ⌘+Enter"
          onClick={onRun}
        >
          <span aria-hidden="true">▶</span> Run
        </button>
      )}
      <TierChoice {...props} />
      <label>
        <span>Rows</span>
        <select
          value={props.rowsMax}
          title="Most rows in the table; downloads have up to a million"
          onChange={({ currentTarget }) => props.onRowsMax(Number(currentTarget.value))}
        >
          {ROW_CHOICES.map((rows) => (
            <option key={rows} value={rows}>
              {countText(rows)}
            </option>
          ))}
        </select>
      </label>
      <ExampleChoice {...props} />
      <CopyButton text={props.shareUrl} what="link to this query" label="Copy link" />
    </div>
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
        {tiers.map(({ tier: name, timeout_seconds: seconds, max_qu: most, allowed }) => (
          <option key={name} value={name} disabled={!allowed && name !== tier}>
            {name} · {seconds} s · up to {most} QU{allowed ? '' : ' · not in your plan'}
          </option>
        ))}
      </select>
    </label>
  );
}

function ExampleChoice({ examples, onExample }: Pick<ToolbarProps, 'examples' | 'onExample'>) {
  if (examples.length === 0) return null;
  return (
    <label>
      <span class="visually-hidden">Examples</span>
      <select
        class="examples"
        value=""
        onChange={({ currentTarget }) => {
          const chosen = examples[Number(currentTarget.value)];
          currentTarget.value = '';
          if (chosen !== undefined) onExample(chosen.sql);
        }}
      >
        <option value="" disabled>
          Examples
        </option>
        {examples.map(({ question }, index) => (
          <option key={question} value={index}>
            {question}
          </option>
        ))}
      </select>
    </label>
  );
}
