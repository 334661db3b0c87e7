import type { ComponentChildren } from 'preact';

interface FigureProps {
  readonly name: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}

/** One figure of a `<dl class="figures">`. */
export function Figure({ name, note, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">
        {children}
        {note === undefined ? null : <span class="figure-note">{note}</span>}
      </dd>
    </div>
  );
}
