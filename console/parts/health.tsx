import type { ComponentChildren } from 'preact';
import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Time } from '../components/time.tsx';
import { isStuck, stateText } from '../flow/live-state.ts';
import { chainText, countText, durationText } from '../format.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';
import type { ChainTelemetry, Telemetry } from '../wire.ts';

/** Health of the index as `/telemetry` reports it: chains, identities, sources of the endpoint catalogue. */

type Identities = NonNullable<Telemetry['identities']>;
type IdentityTelemetry = Identities['chains'][number];
type EndpointSource = Identities['endpoint_sources'][number];

/** Health changes slowly, so this is often enough. */
export const TELEMETRY_EVERY_MS = 10_000;
/** Chains make a block every one to twelve seconds; a chain that is further behind than this is marked. */
const LAG_WARN_SECONDS = 60;

type Tone = 'good' | 'warn' | 'bad';

/** The colour of the dot next to the words of `lagText`. */
function chainTone(chain: ChainTelemetry): Tone {
  if (chain.state === 'imported') return 'good';
  if (chain.lag_seconds === null || isStuck(chain)) return 'bad';
  return chain.lag_seconds > LAG_WARN_SECONDS || chain.state !== 'following' ? 'warn' : 'good';
}

function lagText(chain: ChainTelemetry): string {
  if (chain.state === 'imported') return chain.sample_data_to === null ? 'imported' : 'sample data';
  if (chain.lag_seconds === null) return 'not started';
  return chain.lag_seconds < 2 ? 'at the tip' : `${durationText(chain.lag_seconds)} behind`;
}

/** How far the chain is, and what keeps it from being whole. */
function freshnessText(chain: ChainTelemetry): string {
  const isFaulty = isStuck(chain) || chain.state === 'incomplete';
  const parts = isFaulty ? [lagText(chain), stateText(chain)] : [lagText(chain)];
  return [...new Set(parts)].join(', ');
}

/** How much of the past is indexed, while some of it is not. */
function coverageText({ backfill: { percent } }: ChainTelemetry): string {
  return percent === null || percent >= 100 ? '' : ` · ${Math.floor(percent)}% of older blocks read`;
}

/** One line that says for every chain how far the index is. */
export function FreshnessStrip() {
  const { answer, problem } = useAnswer<Telemetry>('/telemetry', { refreshMs: TELEMETRY_EVERY_MS });
  if (answer === null) return <div class="freshness" />;
  return (
    <div class="freshness">
      {answer.chains.map((chain) => (
        <span
          key={chain.chain}
          class="freshness-chain"
          title={chain.indexed_block === null ? chain.chain : `Block ${countText(chain.indexed_block)}`}
        >
          <span class={`dot ${problem === null ? chainTone(chain) : 'warn'}`} aria-hidden="true" />
          <strong>{chainText(chain.chain)}</strong>{' '}
          {problem === null ? freshnessText(chain) : 'status unknown'}
          <span class="muted">
            {coverageText(chain)}
            {chain.last_written_at === null ? null : (
              <>
                {' '}
                · written <Time at={chain.last_written_at} ago />
              </>
            )}
          </span>
        </span>
      ))}
      <Link to="/status">Status</Link>
    </div>
  );
}

/** The progress, the speed and the faults of one chain. */
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
        <Fact name="Freshness">{[...new Set([lagText(chain), stateText(chain)])].join(', ')}</Fact>
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
      <h3>Faults since the start</h3>
      <dl class="facts">
        <Fact name="Reorgs">
          {countText(chain.reorgs)}
          {chain.reorgs === 0 ? null : `, deepest ${countText(chain.deepest_reorg)} blocks`}
        </Fact>
        <Fact name="Retries">{countText(chain.retries)}</Fact>
        <Fact name="Contradictions">
          <FaultCount value={chain.contradictions} />
        </Fact>
        <Fact name="Dead letters">
          <FaultCount value={chain.dead_letters} />
        </Fact>
        <Fact name="Last error">{chain.last_error ?? 'none'}</Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </>
  );
}

/** Faults that should never occur are marked when they did. */
function FaultCount({ value }: { readonly value: number }) {
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
  return `${backfill.percent ?? 0}% of ${countText(backfill.blocks_total)} blocks${left}`;
}

/** The agents of a chain, and the problems with their files. */
export function IdentityHealth({ identities }: { readonly identities: IdentityTelemetry }) {
  const id = `identities-${identities.chain.replace(':', '-')}`;
  const { cards, feedback_files: files } = identities;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>ERC-8004 identities</h2>
        <span class="muted small">{chainText(identities.chain)}</span>
      </div>
      <dl class="facts">
        <Fact name="Agents">{countText(identities.agents)}</Fact>
        <Fact name="Attestations">{countText(identities.attestations)}</Fact>
        <Fact name="Cards">
          {countText(cards.good)} read, {countText(cards.failed)} failed, {countText(cards.none)} without,{' '}
          {countText(cards.due)} due
        </Fact>
        <Fact name="Feedback files">
          {countText(files.good)} read, {countText(files.failed)} failed, {countText(files.due)} due
        </Fact>
      </dl>
      <FileProblems title="Problems with cards" problems={cards.problems} />
      <FileProblems
        title="Problems with feedback files, including files that were read"
        problems={files.problems}
      />
    </section>
  );
}

interface FileProblemsProps {
  readonly title: string;
  readonly problems: IdentityTelemetry['cards']['problems'];
}

function FileProblems({ title, problems }: FileProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <p class="tags">
        {problems.map(({ problem, count }) => (
          <Chip key={problem}>
            {problem.replaceAll('_', ' ')} {countText(count)}
          </Chip>
        ))}
      </p>
    </>
  );
}

/** The sources that the endpoint catalogue is read from. */
export function SourceHealth({ sources }: { readonly sources: readonly EndpointSource[] }) {
  if (sources.length === 0) return null;
  return (
    <section aria-labelledby="sources-title">
      <h2 id="sources-title">Sources of the endpoint catalogue</h2>
      <DataTable
        caption="Sources of the endpoint catalogue"
        columns={SOURCE_COLUMNS}
        rows={sources}
        keyOf={({ source }) => source}
      />
    </section>
  );
}

const SOURCE_COLUMNS: readonly Column<EndpointSource>[] = [
  { name: 'Source', cell: ({ source }) => source },
  { name: 'Host', cell: ({ host }) => host ?? '–' },
  { name: 'Offers', isFigure: true, cell: ({ offers }) => countText(offers) },
  { name: 'Last success', cell: ({ good_at: at }) => (at === null ? 'never' : <Time at={at} ago />) },
  {
    name: 'Problem',
    cell: ({ problem, stale }) => (
      <span class={stale ? 'warn' : 'muted'}>{problem?.replaceAll('_', ' ') ?? 'none'}</span>
    ),
  },
];
