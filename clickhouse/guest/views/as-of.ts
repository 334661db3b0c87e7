import { AS_OF_TABLES, PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { accountLiteral } from '../../engine/account.ts';
import { snapshotDatabaseOf } from '../../engine/databases.ts';
import { SNAPSHOT_TABLES, snapshotFilters, versionsText } from '../../tables/history.ts';
import { type WalletIdKey, walletIdText } from '../../tables/wallet-ids.ts';
import { accountText, type Expressions, shownColumn, USD } from './body.ts';
import type { PublicFacts } from './facts.ts';
import { settlementColumns, TIER, walletSettlementsBody } from './settlements.ts';

/**
 * The public tables that can be asked as of a snapshot, in a database of their own under their own names: an accepted text runs in
 * it as it is. Their rows come from the stored tables and from their history; which of them count is not in the views, but in the
 * filters that the engine applies to the stored tables for one statement (setting `additional_table_filters`).
 */

/** The setting of one statement of the guest. Numbers and names of chains alone: nothing of a caller's is in it. */
export function snapshotSettings(database: string, snapshot: Snapshot) {
  const filters = Object.entries(snapshotFilters(snapshot)).map(
    ([table, filter]) => `'${database}.${table}':'${filter.replaceAll(/[\\']/g, '\\$&')}'`,
  );
  return {
    database: snapshotDatabaseOf(database),
    additional_table_filters: `{${filters.join(',')}}`,
  };
}

export function snapshotViewStatements(database: string, idKey: WalletIdKey, facts: PublicFacts): string[] {
  const bodies: Readonly<Record<(typeof AS_OF_TABLES)[number], Expressions>> = {
    settlements: settlementsAsOf(facts, idKey),
    wallet_settlements: walletSettlementsBody(database, facts, idKey).columns,
  };
  return AS_OF_TABLES.map((name) => {
    const { columns, asOf } = PUBLIC_TABLES[name];
    const shown = bodies[name];
    const left: readonly string[] = asOf.leftOut;
    const listed = columns.map((column) =>
      left.includes(column.name)
        ? `CAST(NULL, '${column.type}') AS ${column.name}`
        : shownColumn(shown, column.name),
    );
    return `CREATE OR REPLACE VIEW ${snapshotDatabaseOf(database)}.${name} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT ${listed.join(', ')} FROM ${versionsText(SNAPSHOT_TABLES[name], database)} AS t WHERE t.del = 0`;
  });
}

/** Addresses as texts, as the public view has them (views/settlements.ts); everything in a snapshot is final. */
function settlementsAsOf(facts: PublicFacts, idKey: WalletIdKey): Expressions {
  const word = (text: string): string => `CAST(${text}, 'LowCardinality(String)')`;
  return {
    ...settlementColumns(facts, accountLiteral),
    amount_usd: USD,
    payer: accountText('payer'),
    payee: accountText('payee'),
    asset: word(accountText('asset')),
    relayer: word(accountText('relayer')),
    is_self_payment: "CAST(t.payer = t.payee, 'Bool')",
    finality: word("'finalized'"),
    evidence_tier: TIER,
    payer_id: walletIdText(idKey, accountText('payer')),
    payee_id: walletIdText(idKey, accountText('payee')),
  };
}
