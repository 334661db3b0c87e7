import { type Static, Type } from '@sinclair/typebox';
import { OWN_DATABASE, type OwnTableFacts } from '../../core/domain/own-table.ts';
import type { PlanId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { OwnTable } from '../../sandbox/policy/own-tables.ts';
import type { ReadTable } from '../../sandbox/sandbox.ts';
import type { Caller, OperationDeps } from './deps.ts';
import { CountShape, nowText, TimeShape } from './shapes.ts';

/** Tables of organizations as operations use them. Rejects with a `Failure`. */
export interface KeptTables {
  /** By name. Each reads its rows when it is asked for them. */
  list(organizationId: string): Promise<readonly KeptTable[]>;
  /** In place of the one of its name. Rejects with `table_limit` above the quota of the plan. */
  put(table: {
    readonly organizationId: string;
    readonly plan: PlanId;
    readonly name: string;
    readonly table: ReadTable;
  }): Promise<'created' | 'replaced'>;
  /** False where there was none. */
  remove(table: { readonly organizationId: string; readonly name: string }): Promise<boolean>;
}

export interface KeptTable extends OwnTable, OwnTableFacts {
  /** What counts against the quota. */
  readonly bytes: number;
  readonly updatedAtMs: number;
}

export interface TableDeps extends OperationDeps {
  readonly accounts: { readonly tables: KeptTables };
}

/** The tables that SQL of this caller may name; undefined for a caller without an organization of its own. */
export function tablesOf(
  caller: Pick<Caller, 'organization' | 'key'>,
  { accounts }: Pick<TableDeps, 'accounts'>,
): (() => Promise<readonly KeptTable[]>) | undefined {
  const { organization, key } = caller;
  if (organization === null || key?.isLent === true) return undefined;
  return () => accounts.tables.list(organization.id);
}

/** The organization of a caller that keeps tables. Throws `api_key_required`. */
export function ownerOf({ organization }: Pick<Caller, 'organization'>): {
  readonly id: string;
  readonly plan: PlanId;
} {
  if (organization !== null) return organization;
  throw fail('api_key_required', {
    detail: 'Send the key of an organization: only organizations keep tables.',
  });
}

export function noSuchTable(name: string): Error {
  return fail('table_not_found', { detail: `Your organization has no table ${OWN_DATABASE}.${name}.` });
}

export const OwnTableShape = Type.Object(
  {
    name: Type.String({ description: `As SQL names it: ${OWN_DATABASE}. and the name of its path.` }),
    row_count: CountShape,
    bytes: { ...CountShape, description: 'What it counts against the quota: its rows as they are kept.' },
    columns: Type.Array(
      Type.Object({ name: Type.String(), type: Type.String() }, { title: 'OwnTableColumn' }),
    ),
    updated_at: TimeShape,
  },
  { title: 'OwnTable' },
);

export function ownTableAnswer(table: KeptTable): Static<typeof OwnTableShape> {
  return {
    name: `${OWN_DATABASE}.${table.name}`,
    row_count: table.rows,
    bytes: table.bytes,
    columns: table.columns.map(({ name, type }) => ({ name, type })),
    updated_at: nowText(table.updatedAtMs),
  };
}
