import type { BoardPanel, Dashboard } from '../wire.ts';

/** A dashboard that is being written. Pure, so that tests can run it outside a browser. */

export type DraftPanel = Pick<BoardPanel, 'id' | 'title' | 'width' | 'text'> & {
  readonly kind: Exclude<BoardPanel['kind'], 'payments'>;
  readonly query: string | null;
  readonly chart: BoardPanel['chart'];
};

export interface Draft {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly visibility: Dashboard['visibility'];
  readonly panels: readonly DraftPanel[];
}

export const EMPTY_DRAFT: Draft = { slug: '', title: '', description: '', visibility: 'private', panels: [] };

export function draftOf({ slug, title, description, visibility, panels }: Dashboard): Draft {
  return {
    slug,
    title,
    description,
    visibility,
    panels: panels.map(({ query, kind, ...panel }) => ({
      ...panel,
      kind: kind === 'payments' ? 'table' : kind,
      query: query?.slug ?? null,
    })),
  };
}

/** The next id that no panel has. */
function freeId(panels: readonly DraftPanel[]): string {
  const taken = new Set(panels.map(({ id }) => id));
  let number = panels.length + 1;
  while (taken.has(`panel-${number}`)) number += 1;
  return `panel-${number}`;
}

export function withPanel(draft: Draft, panel: Pick<DraftPanel, 'kind' | 'query' | 'title'>): Draft {
  const added: DraftPanel = { id: freeId(draft.panels), width: 'half', text: '', chart: null, ...panel };
  return { ...draft, panels: [...draft.panels, added] };
}

export function changed(draft: Draft, at: number, part: Partial<DraftPanel>): Draft {
  return {
    ...draft,
    panels: draft.panels.map((panel, place) => (place === at ? { ...panel, ...part } : panel)),
  };
}

export function without(draft: Draft, at: number): Draft {
  return { ...draft, panels: draft.panels.toSpliced(at, 1) };
}

/** Moves a panel by one place; the first and the last one stay where they are. */
export function moved(draft: Draft, at: number, by: -1 | 1): Draft {
  const panel = draft.panels[at];
  const to = at + by;
  if (panel === undefined || to < 0 || to >= draft.panels.length) return draft;
  return { ...draft, panels: draft.panels.toSpliced(at, 1).toSpliced(to, 0, panel) };
}
