import { countText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { ListState } from '../parts/list-states.tsx';
import { PageHead } from '../parts/page-head.tsx';
import type { CapabilitiesAnswer, Capability } from '../parts/wire.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';

/** The catalogue of jobs that services offer, by group. */
export function CapabilitiesPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<CapabilitiesAnswer>('/capabilities');
  const all = answer?.capabilities ?? null;
  return (
    <>
      <PageHead title="Capabilities">
        Jobs that services and agents offer, with how many offer each.{' '}
        <Link to="/endpoints">All endpoints</Link>
      </PageHead>
      <ListState what="capabilities" rows={all} meta={null} problem={problem} onRetry={reload}>
        {groupsOf(all ?? []).map(([group, capabilities]) => (
          <section key={group} class="capability-group">
            <h2>{group}</h2>
            <ul class="cards">
              {capabilities.map((capability) => (
                <CapabilityItem key={capability.slug} capability={capability} />
              ))}
            </ul>
          </section>
        ))}
      </ListState>
    </>
  );
}

function groupsOf(capabilities: readonly Capability[]): [string, Capability[]][] {
  const groups = new Map<string, Capability[]>();
  for (const capability of capabilities) {
    const group = capability.group ?? 'other';
    groups.set(group, [...(groups.get(group) ?? []), capability]);
  }
  return [...groups];
}

function CapabilityItem({ capability }: { readonly capability: Capability }) {
  return (
    <li class="card is-link">
      <div class="card-head">
        <Link to={`/capabilities/${capability.slug}`} class="card-link">
          {capability.name}
        </Link>
        <span class={capability.provider_count === 0 ? 'number muted' : 'number'}>
          {countText(capability.provider_count)}
        </span>
      </div>
      <p class="note muted small">{capability.summary}</p>
    </li>
  );
}
