import { Identicon } from '../components/identicon.tsx';
import { shortAddress } from '../format.ts';
import { nameSourceText, nameSourceWord } from '../name-source.ts';
import { Link } from '../router.tsx';
import { type WalletRole, walletPath } from '../routes.ts';

interface WalletLinkProps {
  readonly wallet: string;
  readonly party: WalletRole;
  /** A claim of the account that registered it: shown next to the address, never instead of it. */
  readonly name?: string | null | undefined;
  /** Where the name is from, as the API says it. */
  readonly source?: string | null | undefined;
}

export function WalletLink({ wallet, party, name, source }: WalletLinkProps) {
  const title = name && source ? `${wallet}, ${nameSourceText(source)}` : wallet;
  return (
    <Link class="wallet" to={walletPath(wallet, party)} title={title}>
      <Identicon address={wallet} />
      <span class="wallet-texts">
        {name ? <span class="wallet-name">{name}</span> : null}
        <span class="wallet-address">
          {shortAddress(wallet)}
          {name && source ? <span class="name-source"> · {nameSourceWord(source)}</span> : null}
        </span>
      </span>
    </Link>
  );
}
