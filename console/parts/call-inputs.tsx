import { type Column, DataTable } from '../components/data-table.tsx';
import type { Endpoint } from '../wire.ts';
import { type CallField, callFields } from './call-fields.ts';

/** What a call takes and answers, as its listing says: claims, shown as text. */
export function CallInputs({ call }: { readonly call: NonNullable<Endpoint['call']> }) {
  const fields = callFields(call);
  if (fields.length === 0) return <p class="muted small">Its listing names no inputs and outputs.</p>;
  return (
    <div>
      <h3>
        Inputs and outputs <span class="muted h2-note">as the listing says</span>
      </h3>
      <DataTable
        caption="Inputs and outputs, as the listing says"
        columns={COLUMNS}
        rows={fields}
        keyOf={({ place, name }) => `${place} ${name}`}
      />
    </div>
  );
}

const REQUIRED_WORDS = new Map([
  [true, 'yes'],
  [false, 'no'],
]);

const COLUMNS: readonly Column<CallField>[] = [
  { name: 'Name', isRowHeader: true, cell: ({ name }) => <span class="mono">{name}</span> },
  { name: 'In', cell: ({ place }) => place },
  { name: 'Type', priority: 2, cell: ({ type }) => (type === '' ? '–' : type) },
  {
    name: 'Required',
    priority: 2,
    cell: ({ isRequired }) => (isRequired === null ? '–' : REQUIRED_WORDS.get(isRequired)),
  },
  {
    name: 'Description',
    cell: ({ description, example }) =>
      [description, example === '' ? '' : `Example: ${example}`].filter((text) => text !== '').join(' ') ||
      '–',
  },
];
