import type { ComponentChildren } from 'preact';
import { changeText } from '../format.ts';
import { Link } from '../router.tsx';
import { Skeleton } from './skeleton.tsx';
import { Sparkline, type SparkPoint } from './sparkline.tsx';

interface StatProps {
  readonly name: string;
  /** The figure: a text, `<Money>`, `<Time>`. */
  readonly children?: ComponentChildren;
  /** A short text below the figure. */
  readonly note?: string;
  /** What changed since the period before, as a share: 0.12 is 12 % more. Null where the period before had nothing. */
  readonly change?: number | null;
  /** The figure that it is compared with: `the 7 days before`. */
  readonly changeSince?: string;
  /** How the figure moved, drawn next to it. */
  readonly trend?: { readonly points: readonly SparkPoint[]; format(value: number): string };
  /** A page below /console that says more. */
  readonly to?: string;
  /** The figure is being read: its name stands above a grey line. */
  readonly isLoading?: boolean;
}

/** One figure with its name, inside `<Stats>`. */
export function Stat({ name, children, note, change, changeSince, trend, to, isLoading = false }: StatProps) {
  return (
    <div class={isLoading ? 'stat is-loading' : 'stat'}>
      <dt>{to === undefined ? name : <Link to={to}>{name}</Link>}</dt>
      <dd class="number" {...(isLoading ? { 'aria-busy': true } : {})}>
        {isLoading ? <Skeleton width="long" /> : children}
        {isLoading || change === undefined ? null : (
          <Change share={change} {...(changeSince === undefined ? {} : { since: changeSince })} />
        )}
        {isLoading || trend === undefined ? null : <Sparkline name={name} {...trend} />}
        {note === undefined ? null : <span class="stat-note">{note}</span>}
      </dd>
    </div>
  );
}

interface StatsProps {
  readonly children: ComponentChildren;
  /** Without it the figures stand in a frame. */
  readonly isPlain?: boolean;
}

/** A row of figures. */
export function Stats({ children, isPlain = false }: StatsProps) {
  return <dl class={isPlain ? 'stats' : 'stats panel stats-panel'}>{children}</dl>;
}

interface ChangeProps {
  /** 0.12 is 12 % more; null where the period before had nothing. */
  readonly share: number | null;
  readonly since?: string;
}

/** How much a figure changed: a sign, a percentage and a colour. */
export function Change({ share, since = 'the period before' }: ChangeProps) {
  if (share === null)
    return (
      <span class="change muted" title={`Nothing in ${since}`}>
        new
      </span>
    );
  return (
    <span class={`change ${toneOf(share)}`} title={`Compared with ${since}`}>
      {changeText(share)}
    </span>
  );
}

function toneOf(share: number): string {
  if (share === 0) return 'muted';
  return share > 0 ? 'good' : 'bad';
}
