import { segment } from '../api.ts';
import { ListState, MoreButton } from './list-states.tsx';
import { SettlementTable } from './settlement-table.tsx';
import { type Pages, usePages } from './use-pages.ts';
import type { WalletRole } from './wallet-link.tsx';
import type { EntitySettlementsAnswer, NamedSettlement } from './wire.ts';

const PAGE_ROWS = 50;

const rowsOf = ({ settlements }: EntitySettlementsAnswer): readonly NamedSettlement[] => settlements;

/** The wallet's newest settlements in the role that it is judged in; null asks nothing. */
export function useWalletSettlements(
  wallet: string | null,
  party: WalletRole,
  chain: string | null,
): Pages<NamedSettlement> {
  const path = wallet === null ? null : `/entities/${segment(wallet)}/settlements`;
  return usePages<EntitySettlementsAnswer, NamedSettlement>(
    path,
    { role: party, chain, limit: PAGE_ROWS },
    rowsOf,
  );
}

interface WalletSettlementsProps {
  readonly settlements: Pages<NamedSettlement>;
  readonly party: WalletRole;
}

export function WalletSettlements({ settlements, party }: WalletSettlementsProps) {
  const title = party === 'payee' ? 'What it was paid' : 'What it paid';
  return (
    <section aria-labelledby="settlements-title">
      <h2 id="settlements-title">{title}</h2>
      <ListState what="settlements in this role" {...settlements} onRetry={settlements.reload}>
        <SettlementTable caption={`${title}, newest first`} rows={settlements.rows ?? []} own={party} />
        <MoreButton {...settlements} shown={settlements.rows?.length ?? 0} what="settlements" />
      </ListState>
    </section>
  );
}
