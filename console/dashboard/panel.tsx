import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { columnBefore, columnTitle, isBefore, shareOfChange } from '../../core/domain/panel-figure.ts';
import { Chart } from '../chart/chart.tsx';
import type { ChartSpec } from '../chart/spec.ts';
import { Skeleton } from '../components/skeleton.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { WINDOW_BEFORE } from '../parts/windows.ts';
import { type AnswerState, useAnswer } from '../use-answer.ts';
import type { BoardPanel, Dashboard } from '../wire.ts';
import { type BoardChoice, boardPath } from './choice.ts';
import { NewestPayments } from './newest-payments.tsx';
import { Figure, type PanelRows, RowsTable } from './rows.tsx';

/** A panel of a dashboard. Its rows are read again once a minute while the tab is visible. */

const REFRESH_MS = 60_000;
const CHART_HEIGHT_PX = 280;
const TABLE_ROWS = 10;
/** Grey figures while the first answer is read. */
const FIGURES = 4;

export interface PanelProps {
  readonly board: Dashboard;
  readonly panel: BoardPanel;
  readonly choice: BoardChoice;
}

export function Panel({ board, panel, choice }: PanelProps) {
  switch (panel.kind) {
    case 'text':
      return (
        <Frame panel={panel}>
          <TextOf text={panel.text} />
        </Frame>
      );
    case 'payments':
      return (
        <NewestPayments title={panel.title} width={panel.width}>
          <QueryPanel board={board} panel={{ ...panel, kind: 'table' }} choice={choice} />
        </NewestPayments>
      );
    default:
      return <QueryPanel board={board} panel={panel} choice={choice} />;
  }
}

function QueryPanel({ board, panel, choice }: PanelProps) {
  const { query } = panel;
  const { period, chain, wallet, token } = choice;
  const state = useAnswer<PanelRows>(
    query === null ? null : `${boardPath(board)}/panels/${encodeURIComponent(panel.id)}`,
    { query: { period, chain, wallet, token }, refreshMs: REFRESH_MS },
  );
  const { answer } = state;
  return (
    <Frame
      panel={panel}
      links={
        <>
          {answer === null ? null : (
            <span class="muted" title="When the figures were computed">
              <Time at={answer.computed_at} ago />
            </span>
          )}
          {query === null || query.sql === null ? null : (
            <OpenInSql
              sql={query.sql}
              params={Object.fromEntries(query.parameters.map(({ name, value }) => [name, value]))}
              about={panel.title}
            />
          )}
        </>
      }
    >
      {panel.text === '' ? null : <p class="muted small">{panel.text}</p>}
      <PanelBody panel={panel} state={state} since={WINDOW_BEFORE[period]} />
    </Frame>
  );
}

interface FrameProps {
  readonly panel: Pick<BoardPanel, 'id' | 'kind' | 'title' | 'width'>;
  readonly links?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Frame({ panel: { id, kind, title, width }, links, children }: FrameProps) {
  const heading = `panel-${id}`;
  return (
    <section class={`panel move-card board-panel is-${kind} is-${width}`} aria-labelledby={heading}>
      <header>
        <h2 id={heading} class={kind === 'figures' ? 'visually-hidden' : undefined}>
          {title}
        </h2>
        <span class="move-links">{links}</span>
      </header>
      {children}
    </section>
  );
}

interface BodyProps {
  readonly panel: BoardPanel;
  readonly state: AnswerState<PanelRows>;
  readonly since: string;
}

function PanelBody({ panel, state: { answer, problem, reload }, since }: BodyProps) {
  if (panel.query === null)
    return (
      <EmptyState title="Nothing to show">
        <p>The query of this panel was deleted, or its owner keeps it private.</p>
      </EmptyState>
    );
  if (answer === null && problem !== null) {
    if (problem.body.code === 'result_not_found')
      return (
        <EmptyState title="No result yet">
          <p>{problem.body.detail}</p>
        </EmptyState>
      );
    return <ProblemState problem={problem} onRetry={reload} />;
  }
  if (panel.kind === 'figures') return <Figures data={answer} since={since} />;
  if (panel.kind === 'chart') return <PanelChart panel={panel} data={answer} />;
  return <RowsTable title={panel.title} data={answer} since={since} skeletonRows={TABLE_ROWS} />;
}

function Figures({ data, since }: { readonly data: PanelRows | null; readonly since: string }) {
  if (data === null)
    return (
      <Stats isPlain>
        {Array.from({ length: FIGURES }, (_, at) => (
          <Stat key={at} name="…" isLoading />
        ))}
      </Stats>
    );
  const names = data.columns.map(({ name }) => name);
  const row = data.rows[0] ?? [];
  return (
    <Stats isPlain>
      {names.map((name, at) => {
        if (isBefore(name)) return null;
        const before = columnBefore(names, name);
        const change =
          before === null ? {} : { change: shareOfChange(row[at], row[before]), changeSince: since };
        return (
          <Stat key={name} name={columnTitle(name)} {...change}>
            <Figure name={name} value={row[at]} />
          </Stat>
        );
      })}
    </Stats>
  );
}

function PanelChart({ panel, data }: { readonly panel: BoardPanel; readonly data: PanelRows | null }) {
  const chosen = panel.chart;
  const spec = useMemo((): Partial<ChartSpec> => {
    if (chosen === null) return {};
    const { kind, x, y, by } = chosen;
    return x === null ? { kind } : { kind, x, y, by };
  }, [chosen]);
  if (data === null)
    return (
      <div class="board-waiting" style={{ minHeight: `${CHART_HEIGHT_PX}px` }}>
        <Skeleton width="long" />
      </div>
    );
  return <Chart name={panel.title} data={data} spec={spec} height={CHART_HEIGHT_PX} />;
}

/** Paragraphs; nothing in them is markup. */
function TextOf({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('\n\n').map((paragraph) => (
        <p key={paragraph} class="board-text">
          {paragraph}
        </p>
      ))}
    </>
  );
}
