import { account } from './columns.ts';
import { SETTLEMENTS } from './settlements.ts';
import type { Table } from './table.ts';
import { type WalletIdKey, walletIdText } from './wallet-ids.ts';

/** Past settlements in the form that scans read fastest. The rollup worker copies them, a month at a time. */
export const PLAIN_SETTLEMENTS = {
  name: 'plain_settlements',
  columns: {},
  placement: { key: null, why: 'copied on each shard from its own settlements' },
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** Which months were copied, and after how many writes. */
export const PLAIN_MONTHS = {
  name: 'plain_months',
  columns: {},
  placement: { key: null, why: 'written by the shard that holds the copy' },
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** A view: which months are current as a copy, and the hours to be read from `settlements`. */
export const PLAIN_COVERAGE = {
  name: 'plain_coverage',
  columns: {},
  placement: { key: null, why: 'a view: every shard judges the months whose rows it holds' },
} as const satisfies Table;

/** A copy has the rows that live, and the code of a method in place of its name. */
const NOT_COPIED = ['method', 'ver', 'del'];

/**
 * The columns of plain_settlements, each with what it is made of from a row of `settlements`: the worker copies rows by it, and the public view
 * reads the rows that no copy has.
 */
export function plainColumns(key: WalletIdKey): Readonly<Record<string, string>> {
  const word = (column: string): string => `CAST(${account.select(column)}, 'LowCardinality(String)')`;
  const stored = Object.entries(SETTLEMENTS.columns).filter(([name]) => !NOT_COPIED.includes(name));
  return {
    ...Object.fromEntries(
      stored.map(([name, type]) => [name, type === account ? account.select(name) : name]),
    ),
    asset: word('asset'),
    relayer: word('relayer'),
    method_code: 'toUInt8(method)',
    evidence_tier: 'evidence_tier',
    is_self_payment: 'is_self_payment',
    payer_id: walletIdText(key, account.select('payer')),
    payee_id: walletIdText(key, account.select('payee')),
  };
}
