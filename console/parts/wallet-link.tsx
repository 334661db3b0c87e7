import { shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { Identicon } from './identicon.tsx';

export type WalletRole = 'payer' | 'payee';

/** The page of a wallet: paid wallets are judged as merchants, paying ones as agents. */
export function walletPath(wallet: string, party: WalletRole): string {
  return party === 'payee' ? `/merchants/${wallet}` : `/agents/${wallet}`;
}

interface WalletLinkProps {
  readonly wallet: string;
  readonly party: WalletRole;
  /** A claim of whoever registered it: beside the address and never instead of it. */
  readonly name?: string | null | undefined;
}

export function WalletLink({ wallet, party, name }: WalletLinkProps) {
  return (
    <Link class="wallet" to={walletPath(wallet, party)} title={wallet}>
      <Identicon address={wallet} />
      <span class="wallet-texts">
        {name ? <span class="wallet-name">{name}</span> : null}
        <span class="wallet-address">{shortAddress(wallet)}</span>
      </span>
    </Link>
  );
}
