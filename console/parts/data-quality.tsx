import { SIGNALS } from '../../core/domain/data-quality.ts';
import { Chip, type Tone } from '../components/chip.tsx';
import type { Profile } from '../wire.ts';

/** The verdict on the figures of a wallet, and every signal with its value and threshold. */

type DataQuality = Profile['data_quality'];
type Signal = DataQuality['signals'][number];

export const VERDICT_TONES: Readonly<Record<DataQuality['verdict'], Tone>> = {
  clean: 'good',
  mixed: 'warn',
  suspect: 'bad',
  insufficient: 'neutral',
  unobserved: 'neutral',
};

export const VERDICT_WORDS: Readonly<Record<DataQuality['verdict'], string>> = {
  clean: 'Clean',
  mixed: 'Mixed',
  suspect: 'Suspect',
  insufficient: 'Too little data',
  unobserved: 'Not seen',
};

export function VerdictChip({ verdict }: { readonly verdict: DataQuality['verdict'] }) {
  return <Chip tone={VERDICT_TONES[verdict]}>{verdict}</Chip>;
}

const SIGNAL_NAMES: Readonly<Record<Signal['id'], string>> = {
  self_payment_share: 'Paid to itself',
  payer_concentration: 'Concentration of payers',
  single_payer_dominance: 'Largest payer',
  payee_concentration: 'Concentration of payees',
  single_payee_dominance: 'Largest payee',
  reciprocity: 'Money that comes back',
  ring_membership: 'Payment rings',
};

export function DataQualityCard({ quality }: { readonly quality: DataQuality }) {
  return (
    <section class="card" aria-labelledby="quality-title">
      <div class="card-head">
        <h2 id="quality-title">Data quality</h2>
        <VerdictChip verdict={quality.verdict} />
      </div>
      <p class="note">{quality.note}</p>
      <ul class="signals">
        {quality.signals.map((signal) => (
          <SignalItem key={signal.id} signal={signal} />
        ))}
      </ul>
      <p class="note muted">A verdict is about the figures, not about the people behind them.</p>
    </section>
  );
}

function SignalItem({ signal }: { readonly signal: Signal }) {
  const rule = SIGNALS[signal.id];
  const isCount = rule.unit === 'count';
  return (
    <li class={signal.triggered ? 'signal is-triggered' : 'signal'} title={rule.meaning}>
      <span class="signal-name">
        {SIGNAL_NAMES[signal.id]}
        {signal.triggered ? <span class="signal-mark">reached</span> : null}
      </span>
      <span class="signal-value">
        {signal.value === null ? 'no data' : valueText(signal.value, isCount)}
        <span class="muted"> / {valueText(signal.threshold, isCount)}</span>
      </span>
      {isCount || signal.value === null ? null : <Meter value={signal.value} threshold={signal.threshold} />}
      <span class="signal-meaning">{rule.meaning}</span>
    </li>
  );
}

/** The API sends shares in ten-thousandths, so percent with two decimals loses nothing. */
function valueText(value: number, isCount: boolean): string {
  return isCount ? String(value) : `${(value * 100).toFixed(2).replace(/(?:\.|(?<![0.]))0+$/, '')}%`;
}

/** The value on a line from 0 to 100 %, with the threshold marked. Hidden from screen readers: the text says the same. */
function Meter({ value, threshold }: { readonly value: number; readonly threshold: number }) {
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="meter-ground" x="0" y="1" width="100" height="4" />
      <rect class="meter-value" x="0" y="1" width={Math.min(1, value) * 100} height="4" />
      <rect class="meter-threshold" x={Math.min(1, threshold) * 100 - 0.4} y="0" width="0.8" height="6" />
    </svg>
  );
}
