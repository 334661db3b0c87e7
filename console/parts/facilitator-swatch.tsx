import { facilitatorColour, facilitatorShape } from '../chart/palette.ts';
import { Swatch } from '../components/chip.tsx';

/** The mark of a facilitator: eight colours are too few for all of them, so those of one colour differ in their shape. */
export function FacilitatorSwatch({ id }: { readonly id: string | null }) {
  return <Swatch colour={facilitatorColour(id)} shape={facilitatorShape(id)} />;
}
