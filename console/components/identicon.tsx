const CELLS = 5;
const HALF = 3;
const HUES = 360;

/** A small picture that is always the same for an address, which helps to recognise it. Hidden from screen readers. */
export function Identicon({ address, size = 20 }: { readonly address: string; readonly size?: number }) {
  const digits = digitsOf(address);
  const hue = Number.parseInt(digits.slice(0, 4), 16) % HUES;
  return (
    <svg
      class="identicon"
      viewBox="-1 -1 7 7"
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <rect x="-1" y="-1" width="7" height="7" rx="1.4" fill={`hsl(${hue} 45% 50% / 0.18)`} />
      <path d={cellsOf(digits)} fill={`hsl(${hue} 55% 48%)`} />
    </svg>
  );
}

/** Hex digits; of an account of Solana, one for each of its own. */
function digitsOf(address: string): string {
  const digits = address.startsWith('0x')
    ? address.slice(2)
    : [...address].map((digit) => (digit.charCodeAt(0) % 16).toString(16)).join('');
  return digits.padEnd(40, '0');
}

/** Five by five cells, mirrored left to right: one hex digit decides each of fifteen cells. */
function cellsOf(digits: string): string {
  let path = '';
  for (let at = 0; at < CELLS * HALF; at++) {
    if (Number.parseInt(digits[at + 4] ?? '0', 16) % 2 === 0) continue;
    const x = Math.floor(at / CELLS);
    const y = at % CELLS;
    for (const column of new Set([x, CELLS - 1 - x])) path += `M${column} ${y}h1v1h-1z`;
  }
  return path;
}
