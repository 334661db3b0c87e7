import { Time } from '../components/figures.tsx';
import { chainText, countText, durationText } from '../format.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';
import type { ChainTelemetry, TelemetryAnswer } from './wire-service.ts';

/** Health changes slowly; a minute-old figure would still be true. */
export const TELEMETRY_EVERY_MS = 10_000;
/** Chains make a block every one to twelve seconds: more than this behind is worth a colour. */
const LAG_WARN_SECONDS = 60;

export type Tone = 'good' | 'warn' | 'bad';

/** How a chain is doing, for a dot that has its words beside it. */
export function chainTone(chain: ChainTelemetry): Tone {
  if (chain.state === 'imported') return 'good';
  if (chain.lag_seconds === null) return 'bad';
  return chain.lag_seconds > LAG_WARN_SECONDS || chain.state !== 'following' ? 'warn' : 'good';
}

export function lagText(chain: ChainTelemetry): string {
  if (chain.state === 'imported') return chain.sample_data_to === null ? 'imported' : 'sample data';
  if (chain.lag_seconds === null) return 'not started';
  return chain.lag_seconds < 2 ? 'at the tip' : `${durationText(chain.lag_seconds)} behind`;
}

/** One line: how far the index is, chain by chain. */
export function FreshnessStrip() {
  const { answer, problem } = useAnswer<TelemetryAnswer>('/telemetry', { refreshMs: TELEMETRY_EVERY_MS });
  if (answer === null) return <div class="freshness" />;
  return (
    <div class="freshness">
      {answer.chains.map((chain) => (
        <span key={chain.chain} class="freshness-chain">
          <span class={`dot ${problem === null ? chainTone(chain) : 'warn'}`} aria-hidden="true" />
          <strong>{chainText(chain.chain)}</strong> {problem === null ? lagText(chain) : 'no news of it'}
          <span class="muted">
            {chain.indexed_block === null ? null : <> · block {countText(chain.indexed_block)}</>}
            {chain.last_written_at === null ? null : (
              <>
                {' '}
                · written <Time at={chain.last_written_at} ago />
              </>
            )}
          </span>
        </span>
      ))}
      <Link to="/status">Status of the index</Link>
    </div>
  );
}
