import { EmptyState } from '../components/states.tsx';
import { chainText } from '../format.ts';
import { Link } from '../router.tsx';

interface UnknownWalletProps {
  readonly chain: string | null;
  /** Deposits into a channel pay no seller. */
  readonly hasChannels: boolean;
}

/** Not an error: a wallet without settlements is an answer of the API. */
export function UnknownWallet({ chain, hasChannels }: UnknownWalletProps) {
  return (
    <EmptyState
      title={`The index has no ${hasChannels ? 'payment' : 'settlement'} of this wallet${chain === null ? '' : ` on ${chainText(chain)}`}`}
      actions={
        <>
          <Link to="/status">How far the index is</Link>
          <Link to="/agents">Search agents</Link>
        </>
      }
    >
      <p>
        {chain === null
          ? 'It may never have paid or been paid over x402, its settlements may not be indexed yet, or they may be on a chain that is not indexed here.'
          : 'Its settlements may be on other chains, or those on this one may not be indexed yet.'}
      </p>
    </EmptyState>
  );
}
