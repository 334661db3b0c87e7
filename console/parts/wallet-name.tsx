import { CopyButton } from '../components/copy-button.tsx';
import { nameSourceText } from '../name-source.ts';
import type { WalletRole } from '../routes.ts';
import { WalletLink } from './wallet-link.tsx';

interface NamedWalletProps {
  readonly wallet: string;
  readonly party: WalletRole;
  readonly name: string | null | undefined;
  readonly source: string | null | undefined;
}

/** A wallet with its name and where that is from, its address to be copied. */
export function NamedWallet({ wallet, party, name, source }: NamedWalletProps) {
  return (
    <span class="named-wallet">
      <WalletLink wallet={wallet} party={party} name={name} />
      <CopyButton text={wallet} what="address" />
      {name ? <span class="source-line">{nameSourceText(source)}</span> : null}
    </span>
  );
}
