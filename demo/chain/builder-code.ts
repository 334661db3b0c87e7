import { encodeBuilderCodeSuffix } from '@x402/extensions/builder-code';
import { concatHex, type Hex, stringToHex } from 'viem';

const MARKER = '0x80218021802180218021802180218021';

/** ERC-8021 schema 2: `w` names the facilitator, `a` the app, `s` services. By the package's own encoder. */
export function withBuilderCode(
  calldata: Hex,
  codes: { readonly w?: string; readonly a?: string; readonly s?: string[] },
): Hex {
  const suffix = encodeBuilderCodeSuffix(codes);
  return concatHex([calldata, suffix.startsWith('0x') ? suffix : `0x${suffix}`]);
}

/** ERC-8021 schema 0: ASCII codes joined by commas, then their length in one byte. */
export function withPlainBuilderCodes(calldata: Hex, codes: readonly string[]): Hex {
  const text = stringToHex(codes.join(','));
  const length = (text.length - 2) / 2;
  return concatHex([calldata, text, `0x${length.toString(16).padStart(2, '0')}`, '0x00', MARKER]);
}
