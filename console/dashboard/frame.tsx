import { LiveRegion } from '../components/states.tsx';
import { CONSOLE_BASE, pageQuery } from '../routes.ts';
import { BoardGrid, useBoard } from './board.tsx';

/** A dashboard in a frame of another site: its panels for the period of the address, and a link to the whole page. */
export function Frame() {
  const [, , owner = '', slug = ''] = location.pathname.split('/').map(decodeURIComponent);
  const query = pageQuery(location.search);
  const state = useBoard({ owner, slug }, query);
  const { board } = state;
  // The token opens the frame alone: it is no part of links that leave it.
  query.delete('token');
  const search = query.toString() === '' ? '' : `?${query.toString()}`;
  return (
    <>
      <main class="board-frame">
        <h1>{board?.title ?? ''}</h1>
        <BoardGrid state={state} />
        <p class="muted small">
          <a href={`${CONSOLE_BASE}/dashboards/${owner}/${slug}${search}`} target="_blank" rel="noopener">
            Settlement Index
          </a>
        </p>
      </main>
      <LiveRegion />
    </>
  );
}
