import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { copyExactTexts } from '../../../console/components/money.tsx';
import { LiveRegion } from '../../../console/components/states.tsx';
import { followLinks, place, readPlace } from '../../../console/router.tsx';
import { useStore } from '../../../console/store.ts';
import { applyStoredTheme } from '../../../console/theme.ts';
import { PartsPage } from './parts-page.tsx';

/** The page of the parts in place of the console: what `console/main.tsx` gives to every page, without header, key and API. */
function App() {
  const { query } = useStore(place);
  useEffect(() => {
    const stops = [followLinks(), copyExactTexts()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return (
    <>
      <main id="main" tabIndex={-1}>
        <PartsPage query={query} />
      </main>
      <LiveRegion />
    </>
  );
}

applyStoredTheme();
readPlace();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
render(<App />, root);
