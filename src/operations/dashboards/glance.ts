import {
  columnBefore,
  columnTitle,
  figureKind,
  isBefore,
  shareOfChange,
} from '../../../core/domain/panel-figure.ts';
import { NOT_CHARGED } from '../answer.ts';
import { keptSqlOf } from '../sql/kept.ts';
import { type BoardDeps, type FoundBoard, queryOfPanel } from './boards.ts';
import { keptRows } from './declare.ts';
import { type DashboardChoice, type Panel, valuesFor } from './definition.ts';

/** A dashboard in a few words and figures, for the picture that other sites show with a link to it. */
export interface Glance {
  readonly title: string;
  readonly subtitle: string;
  readonly figures: readonly GlanceFigure[];
  /** The sums of its first chart, in the order of time. */
  readonly line: readonly number[];
  /** False where a panel could not be read: the picture of it is not kept. */
  readonly isWhole: boolean;
}

export interface GlanceFigure {
  readonly name: string;
  readonly text: string;
  /** 0.12 is 12 % more than in the period before. */
  readonly change: number | null;
}

const FIGURES_MAX = 4;
const ROWS_MAX = 2_000;

interface Rows {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A panel without a result is left out: a picture waits for no more than one run of the deployment’s own queries. */
export async function glanceOf(
  found: FoundBoard,
  choice: DashboardChoice,
  deps: BoardDeps,
): Promise<Pick<Glance, 'figures' | 'line' | 'isWhole'>> {
  const { panels } = found.board.content;
  const first = (kind: Panel['kind']) => panels.find((panel) => panel.kind === kind);
  const [figures, chart] = [first('figures'), first('chart')];
  const read = (panel: Panel | undefined) =>
    panel === undefined ? null : rowsOf(panel, found, choice, deps).catch(() => null);
  const [row, points] = await Promise.all([read(figures), read(chart)]);
  return {
    figures: row === null ? [] : figuresOf(row),
    line: points === null ? [] : lineOf(points, chart),
    isWhole: row !== null && points !== null,
  };
}

async function rowsOf(
  panel: Panel,
  found: FoundBoard,
  choice: DashboardChoice,
  deps: BoardDeps,
): Promise<Rows | null> {
  const query = await queryOfPanel(panel, found, deps);
  const values = query === null ? null : valuesFor(query, choice);
  if (query === null || values === null) return null;
  const kept = await keptRows(query, values, deps);
  const form = {
    format: 'json_compact',
    numbers: 'text',
    maxRows: Math.min(ROWS_MAX, kept.rows),
    offset: 0,
  } as const;
  const ready = await keptSqlOf(deps).answers.read(kept, query, form);
  const answer = ready.answer(NOT_CHARGED);
  if ('file' in answer && Buffer.isBuffer(answer.file.content))
    return JSON.parse(answer.file.content.toString()) as Rows; // printed by ourselves
  ready.discard();
  return null;
}

function figuresOf({ columns, rows }: Rows): readonly GlanceFigure[] {
  const names = columns.map(({ name }) => name);
  const row = rows[0] ?? [];
  return names
    .flatMap((name, at) => {
      if (isBefore(name)) return [];
      const before = columnBefore(names, name);
      const change = before === null ? null : shareOfChange(row[at], row[before]);
      return [{ name: columnTitle(name), text: figureText(name, Number(row[at] ?? 0)), change }];
    })
    .slice(0, FIGURES_MAX);
}

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });

function figureText(name: string, value: number): string {
  switch (figureKind(name)) {
    case 'money':
      return `$${SHORT.format(value)}`;
    case 'percent':
      return `${SHORT.format(value)}%`;
    case 'count':
      return SHORT.format(value);
  }
}

/** The sums at each place along x. Rows come in the order of time. */
function lineOf({ columns, rows }: Rows, panel: Panel | undefined): readonly number[] {
  const at = (name: string | null | undefined) => columns.findIndex((column) => column.name === name);
  const [x, y] = [at(panel?.chart?.x), at(panel?.chart?.y[0])];
  if (x === -1 || y === -1) return [];
  const sums = new Map<unknown, number>();
  for (const row of rows) sums.set(row[x], (sums.get(row[x]) ?? 0) + Number(row[y] ?? 0));
  return [...sums.values()];
}
