import { Time } from '../components/figures.tsx';
import { chainText, countText } from '../format.ts';
import { Fact } from './chain-health.tsx';
import { Cell } from './settlement-table.tsx';
import type { EndpointSource } from './wire.ts';
import type { FileCounts, IdentityTelemetry } from './wire-service.ts';

/** What is known of agents on a chain, and which of their files could not be read. */
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
      <Problems title="What was wrong with cards" problems={cards.problems} />
      <Problems
        title="What was wrong with feedback files, those that were read among them"
        problems={files.problems}
      />
    </section>
  );
}

interface ProblemsProps {
  readonly title: string;
  readonly problems: FileCounts['problems'];
}

function Problems({ title, problems }: ProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <p class="tags">
        {problems.map(({ problem, count }) => (
          <span key={problem} class="badge quiet">
            {problem.replaceAll('_', ' ')} {countText(count)}
          </span>
        ))}
      </p>
    </>
  );
}

/** Where the endpoint catalogue comes from. */
export function SourceHealth({ sources }: { readonly sources: readonly EndpointSource[] }) {
  if (sources.length === 0) return null;
  return (
    <section aria-labelledby="sources-title">
      <h2 id="sources-title">Sources of the endpoint catalogue</h2>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">Sources of the endpoint catalogue</caption>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">Host</th>
              <th scope="col" class="number">
                Offers
              </th>
              <th scope="col">Last good</th>
              <th scope="col">Problem</th>
            </tr>
          </thead>
          <tbody>
            {sources.map((source) => (
              <tr key={source.source}>
                <Cell name="Source">{source.source}</Cell>
                <Cell name="Host">{source.host ?? '–'}</Cell>
                <Cell name="Offers" class="number">
                  {countText(source.offers)}
                </Cell>
                <Cell name="Last good">
                  {source.good_at === null ? 'never' : <Time at={source.good_at} ago />}
                </Cell>
                <Cell name="Problem">
                  <span class={source.stale ? 'warn' : 'muted'}>
                    {source.problem?.replaceAll('_', ' ') ?? 'none'}
                  </span>
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
