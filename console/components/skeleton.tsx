/** Grey places for content that is being read, so that the page does not jump when it arrives. */

interface SkeletonProps {
  /** Share of the width that the content will take. Default `long`. */
  readonly width?: 'short' | 'long' | 'whole';
  /** `line` is a line of text, `block` a chart or a picture. Default `line`. */
  readonly shape?: 'line' | 'block';
}

/** One grey place. It is hidden from screen readers: the page must say once what loads, by `role="status"`. */
export function Skeleton({ width = 'long', shape = 'line' }: SkeletonProps) {
  return <span class={`skeleton is-${shape} is-${width}`} aria-hidden="true" />;
}

const LINES = ['long', 'whole', 'long', 'short'] as const;

interface SkeletonLinesProps {
  /** The thing that loads, for screen readers: `the wallet`. */
  readonly what: string;
  readonly lines?: number;
}

/** A paragraph of grey lines. */
export function SkeletonLines({ what, lines = 3 }: SkeletonLinesProps) {
  return (
    <div class="skeleton-lines" role="status">
      <span class="visually-hidden">Loading {what} …</span>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} width={LINES[line % LINES.length] ?? 'long'} />
      ))}
    </div>
  );
}
