import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { allOf, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import { ask } from '../read/ask.ts';
import { textField } from '../read/decode.ts';
import { onChain } from '../settlements/row.ts';

/** What the catalogues know of an address on a chain. An endpoint is a resource with an offer that is paid to it. */
export type WalletEntity =
  | {
      readonly kind: 'payee' | 'endpoint';
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

/** An address may be paid for thousands; `/endpoints?pay_to=` lists them all. */
export const WALLET_ENDPOINTS_MAX = 20;
const MAX_SECONDS = 5;
/** Two catalogues on more chains than a deployment lists. */
const ENTITIES_MAX = 2_000;

export async function readWalletEntities(
  reader: Reader,
  query: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletEntity[]> {
  const offered = allOf([sql`pay_to = ${text(query.wallet)} AND chain != ''`, ...onChain(query.chain)]);
  const known = allOf([sql`address = unhex(${text(query.wallet.slice(2))})`, ...onChain(query.chain)]);
  const { rows } = await ask(reader, 'wallets', {
    name: 'wallet-entities',
    maxSeconds: MAX_SECONDS,
    maxRows: ENTITIES_MAX,
    sql: sql`SELECT * FROM (
        SELECT 'payee' AS kind, toString(chain) AS on_chain, name, resource AS about, '' AS since, toString(source) AS origin
          FROM catalogued_payees FINAL WHERE ${known} AND del = 0
        UNION ALL
        SELECT 'relayer', toString(chain), toString(facilitator_name), toString(facilitator), toString(first_seen), toString(source)
          FROM facilitator_relayers FINAL WHERE ${known} AND del = 0
        UNION ALL
        SELECT 'endpoint', toString(chain), service_name, resource, '', toString(source)
          FROM endpoint_offers FINAL WHERE ${offered} AND del = 0
          ORDER BY resource, chain, source LIMIT 1 BY resource, chain LIMIT ${uint32(WALLET_ENDPOINTS_MAX)})
      ORDER BY indexOf(['payee', 'relayer', 'endpoint'], kind), on_chain, about LIMIT ${uint32(ENTITIES_MAX)}`,
  });
  return rows.map(decodeEntity);
}

function decodeEntity(row: readonly unknown[]): WalletEntity {
  const [kind, chainName, name, about, since, source] = row.map(textField);
  const common = { chain: chainName as Chain, name: name ?? '', source: source ?? '' }; // written by ingest from `Chain` values
  return kind === 'relayer'
    ? { kind, ...common, facilitator: about ?? '', since: since ?? '' }
    : { kind: kind === 'payee' ? kind : 'endpoint', ...common, resource: about ?? '' };
}
