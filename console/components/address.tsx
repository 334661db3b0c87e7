import { shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { CopyButton } from './copy-button.tsx';

interface AddressProps {
  readonly address: string;
  /** Shown instead of the short address, which stays in the title. */
  readonly name?: string | null;
  /** Where a click leads, below /console: `/merchants/0x…`. No link without it. */
  readonly to?: string;
  readonly copy?: boolean;
}

/** A wallet, a contract or a hash: short on the page, whole in the title and in the clipboard. */
export function Address({ address, name = null, to, copy = true }: AddressProps) {
  const text = name === null || name === '' ? shortAddress(address) : name;
  const kind = name === null || name === '' ? 'mono' : 'named';
  return (
    <span class="address">
      {to === undefined ? (
        <span class={kind} title={address}>
          {text}
        </span>
      ) : (
        <Link to={to} class={kind} title={address}>
          {text}
        </Link>
      )}
      {copy ? <CopyButton text={address} what={address.length > 42 ? 'hash' : 'address'} /> : null}
    </span>
  );
}
