import { type Static, Type } from '@sinclair/typebox';
import { accountText } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { addressField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { sql, text, texts, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import { type Chain, type ChainAccount, readChainAccount } from '../../../core/domain/chains.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import type { AgentRow } from '../agents/row.ts';
import { ask } from '../ask.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import { readByChain } from './elsewhere.ts';
import type { WalletEntity } from './owners.ts';
import { WALLETS_RESOURCE, type WalletScope } from './scope.ts';

/**
 * Wallets that are said to belong to the same seller, so that one that is paid on Base and on Solana is seen whole: its accounts have
 * nothing in common on the chains. Who says so is told with each, because all of it is a claim.
 */
export interface LinkedWallet extends ChainAccount {
  readonly basis: (typeof BASES)[number];
  /** The agent or the resource. */
  readonly by: string;
}

/** The operator's catalogue, a listing with an offer for each, and a card of an ERC-8004 agent. */
const BASES = ['catalogue', 'listing', 'agent_card'] as const;

/** Of a wallet; a seller has a handful, and a hostile card or listing may name any number. */
const LINKED_MAX = 8;
const RESOURCES_MAX = 20;
const MAX_SECONDS = 5;

/** Catalogues and listings first: operators and sellers of a resource are surer than cards. */
export async function readLinked(
  reader: Reader,
  wallet: Address,
  known: { readonly entities: readonly WalletEntity[]; readonly agents: readonly AgentRow[] },
): Promise<readonly LinkedWallet[]> {
  const resources = known.entities.flatMap((one) => (one.kind === 'relayer' ? [] : [one.resource]));
  const listed = resources.length === 0 ? [] : await readListedTogether(reader, wallet, resources);
  const linked = new Map<string, LinkedWallet>();
  for (const one of [...listed, ...known.agents.flatMap(namedBy)])
    if (one.address !== wallet && !linked.has(one.address)) linked.set(one.address, one);
  return [...linked.values()].slice(0, LINKED_MAX);
}

/** Every wallet to which the same resources are sold. */
async function readListedTogether(
  reader: Reader,
  wallet: Address,
  resources: readonly string[],
): Promise<LinkedWallet[]> {
  const among = texts([...new Set(resources)].slice(0, RESOURCES_MAX));
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'wallet-linked',
    maxSeconds: MAX_SECONDS,
    maxRows: LINKED_MAX,
    sql: sql`SELECT on_chain, linked, basis, about FROM (
        SELECT toString(chain) AS on_chain, ${accountText('address')} AS linked,
          if(source IN ('configured', 'file'), 'catalogue', 'listing') AS basis, resource AS about
          FROM catalogued_payees FINAL WHERE del = 0 AND resource IN ${among}
        UNION ALL
        SELECT toString(chain), pay_to, 'listing', resource
          FROM endpoint_offers FINAL WHERE del = 0 AND chain != '' AND pay_to != '' AND resource IN ${among})
      WHERE linked != ${text(wallet)} ORDER BY basis, on_chain, linked LIMIT 1 BY linked LIMIT ${uint32(LINKED_MAX)}`,
  });
  return rows.map(([chain, linked, basis, about]) => ({
    chain: textField(chain) as Chain, // written by ingest from `Chain` values only
    address: addressField(linked),
    basis: textField(basis) as LinkedWallet['basis'], // one of the two above
    by: textField(about),
  }));
}

/** The wallet of an agent, and the accounts that its card names. */
function namedBy({ chain, agentId, wallet, services }: AgentRow): LinkedWallet[] {
  const named = services.flatMap(({ endpoint }) => readChainAccount(endpoint) ?? []);
  const own = wallet === null ? [] : [{ chain, address: wallet }];
  return [...own, ...named].map((one) => ({ ...one, basis: 'agent_card', by: `${chain}:${agentId}` }));
}

export const LinkedShape = Type.Array(
  Type.Object(
    {
      chain: ChainShape,
      wallet: AddressShape,
      basis: oneOf(BASES, {
        title: 'LinkBasis',
        description:
          'Who says so. catalogue: this deployment’s configuration. listing: a resource with an offer for each. agent_card: the card of an ERC-8004 agent.',
      }),
      by: Type.String({ description: 'The resource, or the agent as chain and id.' }),
      settlement_count: CountShape,
      usd: UsdShape,
      last_seen: orNull(TimeShape),
    },
    { title: 'LinkedWallet' },
  ),
  {
    description: `Other wallets that are said to be of the same seller, as of one that is paid on Base and on Solana, with what each did in the role of this profile, by chain. Claims, in none of the figures above. At most ${LINKED_MAX} wallets.`,
  },
);

/** A row for each chain on which a linked wallet has settlements, or for the one on which it is named. */
export async function linkedAnswer(
  reader: Reader,
  linked: readonly LinkedWallet[],
  scope: Pick<WalletScope, 'final' | 'wholeRowsReadMax'> & { readonly role: JudgedRole },
  coverageOfAll: () => Promise<RollupCoverage>,
): Promise<Static<typeof LinkedShape>> {
  const answers = linked.map(async ({ chain: namedOn, address: wallet, basis, by }) => {
    const found = await readByChain(
      reader,
      { ...scope, wallet, chain: undefined, left: null },
      coverageOfAll,
    );
    const common = { wallet, basis, by };
    if (found.length === 0)
      return [{ ...common, chain: namedOn, settlement_count: 0, usd: 0, last_seen: null }];
    return found.map(({ chain, count, usdMicros, lastSeen }) => ({
      ...common,
      chain,
      settlement_count: count,
      usd: usdNumber(usdMicros),
      last_seen: timeText(lastSeen),
    }));
  });
  return (await Promise.all(answers)).flat();
}
