import {
  columnBefore,
  columnTitle,
  figureKind,
  isBefore,
  shareOfChange,
} from '../../core/domain/panel-figure.ts';
import { cellText, isAddress, kindOf, rawText } from '../cells.ts';
import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Change } from '../components/stat.tsx';
import { Time } from '../components/time.tsx';
import { countText } from '../format.ts';
import { VerdictChip } from '../parts/data-quality.tsx';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { Link } from '../router.tsx';
import { facilitatorPath } from '../routes.ts';
import type { SqlColumn } from '../wire.ts';

/** Rows of a panel as a table: wallets and facilitators by name, dollars with their change. */

/** The answer of a panel: rows are arrays of values. */
export interface PanelRows {
  readonly columns: readonly SqlColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly computed_at: string;
  readonly truncated: boolean;
}

type Row = readonly unknown[];

interface RowsProps {
  readonly title: string;
  readonly data: PanelRows | null;
  readonly since: string;
  readonly skeletonRows: number;
}

/** A panel is looked at; the query has all of its rows. */
const ROWS_MAX = 50;

export function RowsTable({ title, data, since, skeletonRows }: RowsProps) {
  const rows = data === null ? null : data.rows.slice(0, ROWS_MAX);
  const isCut = data !== null && data.rows.length > ROWS_MAX;
  return (
    <DataTable
      caption={isCut ? `${title}: the first ${ROWS_MAX} of ${countText(data.rows.length)} rows` : title}
      isCaptionShown={isCut}
      class="compact move board-rows"
      columns={data === null ? [{ name: title, cell: () => null }] : columnsOf(data, since)}
      rows={rows}
      keyOf={(row) => String(rows?.indexOf(row))}
      skeletonRows={skeletonRows}
      empty={<p class="muted move-empty">Nothing in this period.</p>}
    />
  );
}

const VERDICTS = ['clean', 'mixed', 'suspect', 'insufficient', 'unobserved'] as const;
const PARTIES = { payee: 'payee', payer: 'payer', wallet: 'payee', address: 'payee' } as const;

function columnsOf({ columns }: PanelRows, since: string): readonly Column<Row>[] {
  const names = columns.map(({ name }) => name);
  const facts = { names, since };
  const isShown = (name: string): boolean =>
    !isBefore(name) && !name.endsWith('_name') && !name.endsWith('_name_source');
  return columns.flatMap(({ name, type }, at): Column<Row>[] =>
    isShown(name) ? [{ name: columnTitle(name), ...cellOf({ name, type, at, ...facts }) }] : [],
  );
}

interface CellFacts {
  readonly name: string;
  readonly type: string;
  readonly at: number;
  readonly names: readonly string[];
  readonly since: string;
}

function cellOf({ name, type, at, names, since }: CellFacts): Omit<Column<Row>, 'name'> {
  const other = (row: Row, column: string): string | null => {
    const value = row[names.indexOf(column)];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  if (Object.hasOwn(PARTIES, name)) {
    const party = PARTIES[name as keyof typeof PARTIES]; // just checked
    return {
      class: 'move-subject',
      isRowHeader: true,
      cell: (row) =>
        isAddress(row[at]) ? (
          <WalletLink
            wallet={row[at]}
            party={party}
            name={other(row, `${name}_name`)}
            source={other(row, `${name}_name_source`)}
          />
        ) : (
          cellText(row[at], 'text')
        ),
    };
  }
  if (name === 'facilitator')
    return { cell: (row) => <Facilitator id={rawText(row[at])} name={other(row, 'facilitator_name')} /> };
  if (name === 'verdict') return { priority: 2, cell: (row) => <Verdict word={rawText(row[at])} /> };
  return valueCell({ name, type, at, names, since });
}

function valueCell({ name, type, at, names, since }: CellFacts): Omit<Column<Row>, 'name'> {
  const kind = kindOf(type);
  if (kind === 'time') return { class: 'muted', cell: (row) => <Time at={rawText(row[at])} ago /> };
  if (kind !== 'number') return { cell: (row) => cellText(row[at], kind) };
  const before = columnBefore(names, name);
  return {
    isFigure: true,
    cell: (row) => (
      <span class="move-figure">
        <Figure name={name} value={row[at]} />
        {before === null ? null : <Change share={shareOfChange(row[at], row[before])} since={since} />}
      </span>
    ),
  };
}

/** A figure in the words of its column: dollars, a share, or a count. */
export function Figure({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === null || value === undefined) return <span class="muted">–</span>;
  const text = rawText(value);
  switch (figureKind(name)) {
    case 'money':
      return <Money usd={text} isShort />;
    case 'percent':
      return <>{text}%</>;
    case 'count':
      return <>{Number.isInteger(Number(text)) ? countText(text) : cellText(value, 'number')}</>;
  }
}

function Facilitator({ id, name }: { readonly id: string; readonly name: string | null }) {
  if (id === '') return <span class="muted">not named</span>;
  return (
    <span class="facilitator">
      <FacilitatorSwatch id={id} />
      <Link to={facilitatorPath(id)}>{name ?? id}</Link>
    </span>
  );
}

function Verdict({ word }: { readonly word: string }) {
  const verdict = VERDICTS.find((known) => known === word);
  if (verdict !== undefined) return <VerdictChip verdict={verdict} />;
  return word === '' ? <span class="muted">–</span> : <Chip>{word}</Chip>;
}
