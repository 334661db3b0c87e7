import type { ComponentChildren } from 'preact';
import { Link } from '../router.tsx';

/** Colours by meaning. The text must say the same: colour is never the only sign. */
export type Tone = 'good' | 'info' | 'warn' | 'bad' | 'neutral';

interface ChipProps {
  /** Default `neutral`. */
  readonly tone?: Tone;
  readonly children: ComponentChildren;
  /** What the word means, on hover. */
  readonly title?: string;
  /** Makes the chip a link to a page below /console. */
  readonly to?: string;
  /** A CSS colour for a dot in front of the text, such as `facilitatorColour(id)` of `chart/palette.ts`. */
  readonly swatch?: string;
}

/** One or two words about a thing, in a rounded frame: a tier, a verdict, a role, a capability. */
export function Chip({ tone = 'neutral', children, title, to, swatch }: ChipProps) {
  const props = { class: `chip tone-${tone}`, ...(title === undefined ? {} : { title }) };
  const content = (
    <>
      {swatch === undefined ? null : <Swatch colour={swatch} />}
      {children}
    </>
  );
  return to === undefined ? (
    <span {...props}>{content}</span>
  ) : (
    <Link to={to} {...props}>
      {content}
    </Link>
  );
}

/** A mark in the colour of a series, in front of its name. */
export function Swatch({
  colour,
  shape = 'square',
}: {
  readonly colour: string;
  /** A class of components.css. */
  readonly shape?: string;
}) {
  return <span class={`swatch is-${shape}`} style={{ color: colour }} aria-hidden="true" />;
}
