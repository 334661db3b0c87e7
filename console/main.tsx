import { render } from 'preact';
import { App } from './app.tsx';
import { applyStoredTheme } from './theme.ts';

applyStoredTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
render(<App />, root);
