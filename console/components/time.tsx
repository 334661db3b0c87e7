import { useEffect, useState } from 'preact/hooks';
import { agoText, timeText } from '../format.ts';

const AGO_EVERY_MS = 5_000;

/** A time in UTC. With `ago` it shows how long ago that was, updated every few seconds, with the time as title. */
export function Time({ at, ago = false }: { readonly at: string; readonly ago?: boolean }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    if (!ago) return;
    const timer = setInterval(() => setNowMs(Date.now()), AGO_EVERY_MS);
    return () => clearInterval(timer);
  }, [ago]);
  const whole = timeText(at);
  return (
    <time dateTime={at} title={whole} class="number">
      {ago ? agoText(at, nowMs) : whole}
    </time>
  );
}
