import type { Reader } from '../../clickhouse/engine.ts';
import { allOf, sql, text, uint32 } from '../../clickhouse/sql.ts';
import type { Address } from '../domain/address.ts';
import type { Chain } from '../domain/chain.ts';
import { ask } from './ask.ts';
import { textField } from './decode.ts';
import { onChain } from './settlement-row.ts';

/** What the catalogues know of an address on a chain. */
export type WalletEntity =
  | {
      readonly kind: 'payee';
      readonly chain: Chain;
      readonly name: string;
      readonly resource: string;
      readonly source: string;
    }
  | {
      readonly kind: 'relayer';
      readonly chain: Chain;
      readonly facilitator: string;
      readonly name: string;
      /** YYYY-MM-DD: the relayer is named from this day on. */
      readonly since: string;
      readonly source: string;
    };

const MAX_SECONDS = 5;
/** Two catalogues on more chains than a deployment lists. */
const ENTITIES_MAX = 2_000;

export async function readWalletEntities(
  reader: Reader,
  query: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletEntity[]> {
  const known = allOf([sql`address = unhex(${text(query.wallet.slice(2))})`, ...onChain(query.chain)]);
  const { rows } = await ask(reader, 'catalogues', {
    name: 'wallet-entities',
    maxSeconds: MAX_SECONDS,
    maxRows: ENTITIES_MAX,
    sql: sql`SELECT * FROM (
        SELECT 'payee' AS kind, toString(chain) AS on_chain, name, resource AS about, '' AS since, toString(source) AS origin
          FROM (SELECT * FROM catalogued_payees FINAL WHERE ${known}) WHERE del = 0
        UNION ALL
        SELECT 'relayer', toString(chain), toString(facilitator_name), toString(facilitator), toString(first_seen), toString(source)
          FROM (SELECT * FROM facilitator_relayers FINAL WHERE ${known}) WHERE del = 0)
      ORDER BY kind, on_chain LIMIT ${uint32(ENTITIES_MAX)}`,
  });
  return rows.map(decodeEntity);
}

function decodeEntity(row: readonly unknown[]): WalletEntity {
  const [kind, chainName, name, about, since, source] = row.map(textField);
  const common = { chain: chainName as Chain, name: name ?? '', source: source ?? '' }; // written by ingest from `Chain` values
  return kind === 'payee'
    ? { kind, ...common, resource: about ?? '' }
    : { kind: 'relayer', ...common, facilitator: about ?? '', since: since ?? '' };
}
