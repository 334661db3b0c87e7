import { type Static, Type } from '@sinclair/typebox';
import {
  OWN_DATABASE,
  OWN_TABLE_BYTES_MAX,
  OWN_TABLE_COLUMNS_MAX,
  OWN_TABLE_QUOTA_TEXT,
  OWN_TABLE_QUOTAS,
  OWN_TABLE_ROWS_MAX,
} from '../../../core/domain/own-table.ts';
import type { PlanId } from '../../../core/domain/plan.ts';
import { fail } from '../../../core/errors.ts';
import { UploadRefused } from '../../../sandbox/sandbox.ts';
import { defineOperation } from '../define.ts';
import {
  type KeptTable,
  noSuchTable,
  OwnTableShape,
  ownerOf,
  ownTableAnswer,
  type TableDeps,
} from '../own-tables.ts';
import { PRICES } from '../prices.ts';
import { CountShape, oneOf } from '../shapes.ts';
import { asNotJudged } from '../sql/failures.ts';
import {
  rowsParam,
  tableNameParam,
  typesParam,
  UPLOAD_EXAMPLES,
  UPLOAD_MEDIA,
  uploadFormatParam,
} from './params.ts';

/** Tables of an organization's own, which its SQL joins as `my.<name>`. */

const QuotaShape = Type.Object(
  { tables: CountShape, tables_max: CountShape, bytes: CountShape, bytes_max: CountShape },
  { title: 'OwnTableQuota', description: `Of the plan: ${OWN_TABLE_QUOTA_TEXT}.` },
);

const EXAMPLE: Static<typeof OwnTableShape> = {
  name: 'my.labels',
  row_count: 1,
  bytes: 81,
  columns: [
    { name: 'wallet', type: 'String' },
    { name: 'label', type: 'String' },
  ],
  updated_at: '2026-11-20T09:15:04Z',
};
const QUOTA_EXAMPLE = { tables: 1, tables_max: 5, bytes: 81, bytes_max: 25_000_000 };

function quotaAnswer(tables: readonly KeptTable[], plan: PlanId): Static<typeof QuotaShape> {
  const max = OWN_TABLE_QUOTAS[plan];
  return {
    tables: tables.length,
    tables_max: max.tables,
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    bytes_max: max.bytes,
  };
}

export const putTable = defineOperation({
  id: 'putTable',
  wire: {
    method: 'PUT',
    path: '/tables/{name}',
    params: { name: tableNameParam, rows: rowsParam, format: uploadFormatParam, types: typesParam },
    file: { field: 'rows', media: UPLOAD_MEDIA, examples: UPLOAD_EXAMPLES, bytesMax: OWN_TABLE_BYTES_MAX },
    output: Type.Object({
      outcome: oneOf(['created', 'replaced'], { title: 'PutTableOutcome' }),
      table: OwnTableShape,
      quota: QuotaShape,
    }),
    fails: [
      'api_key_required',
      'key_restricted',
      'invalid_table',
      'table_limit',
      'payload_too_large',
      'unsupported_media_type',
    ],
  },
  words: {
    summary: 'Keep a table of your own',
    description: `Labels of wallets, prices, your own ledger: rows that SQL of your organization joins as \`${OWN_DATABASE}.<name>\`, and nobody else can. CSV with a line of names, NDJSON or Parquet, at most ${OWN_TABLE_ROWS_MAX} rows, ${OWN_TABLE_COLUMNS_MAX} columns and ${OWN_TABLE_BYTES_MAX / 1e6} MB; the engine finds the types, and \`types\` corrects them. The same name again replaces the table. Free. Saved queries, dashboards and callers of them never read it. Per plan: ${OWN_TABLE_QUOTA_TEXT}.`,
    tool: null,
    example: { outcome: 'created', table: EXAMPLE, quota: QUOTA_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'query' },
  access: { changes: 'replaces' },
  run: async ({ name, rows, format, types }, deps: TableDeps, { caller, callerName }) => {
    const { id: organizationId, plan } = ownerOf(caller);
    const { tables } = deps.accounts;
    const table = await deps.sql
      .readUpload({ bytes: rows, format, types, caller: callerName })
      .catch((error: unknown) => {
        if (error instanceof UploadRefused)
          throw fail('invalid_table', { detail: error.message, cause: error });
        return asNotJudged(error);
      });
    const outcome = await tables.put({ organizationId, plan, name, table });
    const kept = await tables.list(organizationId);
    const own = kept.find((one) => one.name === name);
    if (own === undefined) throw noSuchTable(name);
    return { outcome, table: ownTableAnswer(own), quota: quotaAnswer(kept, plan) };
  },
});

export const listTables = defineOperation({
  id: 'listTables',
  wire: {
    path: '/tables',
    params: {},
    output: Type.Object({ tables: Type.Array(OwnTableShape), quota: QuotaShape }),
    fails: ['api_key_required'],
  },
  words: {
    summary: 'The tables of your organization',
    description: 'By name, with their columns, and how much of the quota they take.',
    tool: null,
    example: { tables: [EXAMPLE], quota: QUOTA_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async (_input, { accounts }: TableDeps, { caller }) => {
    const { id, plan } = ownerOf(caller);
    const tables = await accounts.tables.list(id);
    return { tables: tables.map(ownTableAnswer), quota: quotaAnswer(tables, plan) };
  },
});

export const getTable = defineOperation({
  id: 'getTable',
  wire: {
    path: '/tables/{name}',
    params: { name: tableNameParam },
    output: Type.Object({ table: OwnTableShape }),
    fails: ['api_key_required', 'invalid_parameter', 'table_not_found'],
  },
  words: {
    summary: 'A table of your organization',
    description: `Its columns and its size. Its rows are read with SQL: \`SELECT * FROM ${OWN_DATABASE}.<name>\`.`,
    tool: null,
    example: { table: EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ name }, { accounts }: TableDeps, { caller }) => {
    const tables = await accounts.tables.list(ownerOf(caller).id);
    const table = tables.find((one) => one.name === name);
    if (table === undefined) throw noSuchTable(name);
    return { table: ownTableAnswer(table) };
  },
});

export const deleteTable = defineOperation({
  id: 'deleteTable',
  wire: {
    method: 'DELETE',
    path: '/tables/{name}',
    params: { name: tableNameParam },
    output: Type.Object({ name: Type.String(), deleted: Type.Boolean() }),
    fails: ['api_key_required', 'key_restricted', 'invalid_parameter', 'table_not_found'],
  },
  words: {
    summary: 'Delete a table of your organization',
    description:
      'Its rows are gone at once, and from every backup made later. Results of queries that read it stay for as long as results are kept.',
    tool: null,
    example: { name: 'labels', deleted: true },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ name }, { accounts }: TableDeps, { caller }) => {
    if (!(await accounts.tables.remove({ organizationId: ownerOf(caller).id, name })))
      throw noSuchTable(name);
    return { name, deleted: true };
  },
});
