import type { ComponentChildren } from 'preact';
import { Time } from '../components/figures.tsx';
import { chainText, countText, durationText } from '../format.ts';
import { chainTone, lagText } from './freshness.tsx';
import type { ChainTelemetry } from './wire-service.ts';

/** One chain: how far, how fast, and every fault that was met. */
export function ChainHealth({ chain }: { readonly chain: ChainTelemetry }) {
  const id = `chain-${chain.chain.replace(':', '-')}`;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>
          <span class={`dot ${chainTone(chain)}`} aria-hidden="true" /> {chainText(chain.chain)}
        </h2>
        <span class="muted small">{chain.chain}</span>
      </div>
      <dl class="facts">
        <Fact name="Freshness">
          {lagText(chain)}, {chain.state.replaceAll('_', ' ')}
        </Fact>
        <Fact name="Indexed block">
          <Blocks indexed={chain.indexed_block} head={chain.head_block} />
        </Fact>
        <Fact name="Final up to">
          {chain.finalized_block === null ? 'not known' : countText(chain.finalized_block)}
        </Fact>
        <Fact name="Last written">
          {chain.last_written_at === null ? 'never' : <Time at={chain.last_written_at} ago />}
        </Fact>
        <Fact name="Backfill">{backfillText(chain)}</Fact>
        <Fact name="Speed">
          {chain.rows_per_second} rows/s, {chain.blocks_per_second} blocks/s
        </Fact>
        <Fact name="Rows written">{countText(chain.rows_written)}</Fact>
        <Fact name="Node">{chain.provider.replaceAll('_', ' ')}</Fact>
      </dl>
      <h3>Faults met since the start</h3>
      <dl class="facts">
        <Fact name="Reorgs">
          {countText(chain.reorgs)}
          {chain.reorgs === 0 ? null : `, deepest ${countText(chain.deepest_reorg)} blocks`}
        </Fact>
        <Fact name="Retries">{countText(chain.retries)}</Fact>
        <Fact name="Contradictions">
          <Count value={chain.contradictions} />
        </Fact>
        <Fact name="Dead letters">
          <Count value={chain.dead_letters} />
        </Fact>
        <Fact name="Last error">{chain.last_error ?? 'none'}</Fact>
      </dl>
    </section>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </>
  );
}

/** A fault that should not happen is marked when it did. */
function Count({ value }: { readonly value: number }) {
  return <span class={value > 0 ? 'warn' : undefined}>{countText(value)}</span>;
}

function Blocks({ indexed, head }: { readonly indexed: number | null; readonly head: number | null }) {
  if (indexed === null) return <>none yet</>;
  return (
    <>
      {countText(indexed)} {head === null ? null : <span class="muted">of {countText(head)}</span>}
    </>
  );
}

function backfillText({ backfill }: ChainTelemetry): string {
  if (backfill.blocks_done >= backfill.blocks_total)
    return `done, ${countText(backfill.blocks_total)} blocks`;
  const left = backfill.eta_seconds === null ? '' : `, ${durationText(backfill.eta_seconds)} left`;
  return `${backfill.percent ?? 0} % of ${countText(backfill.blocks_total)} blocks${left}`;
}
