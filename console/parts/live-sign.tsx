import { liveStateOf } from '../flow/live-state.ts';
import { useAnswer } from '../use-answer.ts';
import type { Telemetry } from '../wire.ts';
import { TELEMETRY_EVERY_MS } from './health.tsx';

interface LiveSignProps {
  /** Whether the page asks for new rows. */
  readonly isAsking: boolean;
  /** Whether the newest request for rows failed. */
  readonly hasProblem: boolean;
}

const DOTS = { live: 'dot good is-live', late: 'dot warn', still: 'dot' } as const;

/** Whether a list of newest settlements is live: only while the page asks, the API answers, and the index follows its chains. */
export function LiveSign({ isAsking, hasProblem }: LiveSignProps) {
  const { answer, problem } = useAnswer<Telemetry>('/telemetry', { refreshMs: TELEMETRY_EVERY_MS });
  const { tone, text } = signOf(
    { isAsking, hasProblem },
    liveStateOf(problem === null ? (answer?.chains ?? null) : null),
  );
  return (
    <span class="live">
      <span class={DOTS[tone]} aria-hidden="true" />
      {text}
    </span>
  );
}

function signOf(
  { isAsking, hasProblem }: LiveSignProps,
  chains: ReturnType<typeof liveStateOf>,
): ReturnType<typeof liveStateOf> {
  if (hasProblem) return { tone: 'late', text: 'no answer' };
  return isAsking ? chains : { tone: 'still', text: 'paused' };
}
