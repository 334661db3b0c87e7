import { COLUMNS, type ColumnRule, type FileKind } from '../../ingest/import/columns.ts';
import { table } from './markdown.ts';

/** The columns that an import reads, one table a kind of file. */
export function importColumns(): string {
  return (Object.keys(COLUMNS) as FileKind[]).map(tableOf).join('\n'); // the keys of our own record
}

function tableOf(kind: FileKind): string {
  const rows = Object.values(COLUMNS[kind]).map((rule) => [
    rule.names.map((name) => `\`${name}\``).join(', '),
    typeOf(rule),
    rule.required ? 'yes' : '',
    rule.meaning,
  ]);
  return `\n### ${kind}\n\n${table(['column, first found counts', 'type', 'required', 'meaning'], rows)}\n`;
}

function typeOf({ kinds }: ColumnRule): string {
  const words = {
    bytes: 'bytes or 0x hex',
    integer: 'integer',
    timestamp: 'timestamp',
    list: 'list',
    other: '',
  };
  return kinds.map((kind) => words[kind]).join(' or ');
}
