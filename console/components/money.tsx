import { aboutText, moneyText, usdText, usdTextOfMicros } from '../format.ts';

interface MoneyProps {
  /** Dollars as the API sends them, as a SQL decimal, or as millionths. */
  readonly usd: number | string | bigint;
  /** Three digits and a unit, `$34.1M`: for tiles and axes. */
  readonly isShort?: boolean;
  /** More to say on hover, after the exact amount: `125 atomic units of USDC`. */
  readonly note?: string;
}

/**
 * An amount of dollars in two to four significant decimals: `$1,284.03`, `$0.0125`, `$0.000125`. The title has every digit, and so has
 * the text that is copied from the page (`copyExactTexts`).
 */
export function Money({ usd, isShort = false, note }: MoneyProps) {
  const exact = typeof usd === 'bigint' ? usdTextOfMicros(usd) : usdText(usd);
  const plain = exact.replace(/[$,]/g, '');
  const shown = isShort ? shortText(plain) : moneyText(plain);
  return (
    <span class="money" title={note === undefined ? exact : `${exact} · ${note}`} data-exact={exact}>
      {shown}
    </span>
  );
}

const SHORT_FROM = 1_000;

function shortText(plain: string): string {
  const value = Number(plain);
  if (Math.abs(value) < SHORT_FROM) return moneyText(plain);
  return `${value < 0 ? '-' : ''}$${aboutText(Math.abs(value))}`;
}

/**
 * Puts the exact text of every `data-exact` element into the text that is copied from the page: its text is replaced while the browser reads the
 * selection, and is put back afterwards. Returns the function that stops it.
 */
export function copyExactTexts(): () => void {
  const onCopy = (): void => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed) return;
    const chosen = [...document.querySelectorAll<HTMLElement>('[data-exact]')].filter((element) =>
      selection.containsNode(element, true),
    );
    const back = chosen.map((element) => showExact(element, selection));
    // After the browser has taken the text, which it does when this event ends.
    setTimeout(() => {
      for (const restore of back) restore();
    });
  };
  document.addEventListener('copy', onCopy);
  return () => document.removeEventListener('copy', onCopy);
}

function showExact(element: HTMLElement, selection: Selection): () => void {
  const text = element.firstChild;
  if (!(text instanceof Text)) return () => undefined;
  const shown = text.data;
  // A selection of a part of the amount becomes one of the whole amount: a part of the exact text would be another number.
  const range = selection.rangeCount === 0 ? null : selection.getRangeAt(0);
  if (range?.startContainer === text) range.setStart(text, 0);
  const endsHere = range?.endContainer === text;
  text.data = element.dataset['exact'] ?? shown;
  if (endsHere) range?.setEnd(text, text.data.length);
  return () => {
    text.data = shown;
  };
}
