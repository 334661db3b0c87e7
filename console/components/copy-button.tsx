import { useState } from 'preact/hooks';
import { announce } from './states.tsx';

/** Copies the text, and says whether that worked. Pages that are served without TLS have no `navigator.clipboard`. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

interface CopyButtonProps {
  readonly text: string;
  /** The copied thing, for the name of the button: `Copy address`. */
  readonly what: string;
  /** The text of a button; without it the button is an icon. */
  readonly label?: string;
}

const SHOWN_AS_COPIED_MS = 1_200;

export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const onClick = async (): Promise<void> => {
    const done = await copyText(text);
    announce(done ? `${what} copied` : `${what} could not be copied`);
    if (!done) return;
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_AS_COPIED_MS);
  };
  if (label !== undefined)
    return (
      <button type="button" class="button" onClick={() => void onClick()}>
        {isCopied ? 'Copied' : label}
      </button>
    );
  return (
    <button
      type="button"
      class="copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void onClick()}
    >
      <CopyIcon isCopied={isCopied} />
    </button>
  );
}

/** Two sheets, or a tick. Drawn, because not every font has the characters. */
function CopyIcon({ isCopied }: { readonly isCopied: boolean }) {
  return (
    <svg class="copy-sign" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
      {isCopied ? <path d="M3 8.5l3.2 3.2L13 4.8" /> : <path d="M6 6h7v7H6zM10 6V3H3v7h3" />}
    </svg>
  );
}
