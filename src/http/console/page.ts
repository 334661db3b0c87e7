import { weakTag } from '../../../core/weak-tag.ts';
import type { ConsoleBuild } from './build.ts';

/** The sign of the index, as the tab shows it. Scripts and styles in it would not run: it is a picture. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M3 7h9a5 5 0 0 1 0 10H3' fill='none' stroke='%230b8a6a' stroke-width='2.6'/%3E%3Ccircle cx='20' cy='12' r='2.8' fill='%230b8a6a'/%3E%3C/svg%3E";

export interface ConsolePage {
  readonly text: string;
  readonly etag: string;
}

/** The page that every address of the console gets. Keys are letters, digits and `_`: nothing in it needs escaping. */
export function consolePage(
  { script, style }: Pick<ConsoleBuild, 'script' | 'style'>,
  visitorKey: string | null,
): ConsolePage {
  const visitor = visitorKey === null ? '' : `<meta name="six-visitor-key" content="${visitorKey}">\n`;
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Settlement Index</title>
<meta name="description" content="x402 settlements and ERC-8004 agents: live flow, wallets, SQL.">
${visitor}<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" src="/console/assets/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. The same data is at <a href="/openapi.json">the API</a>, which does not.</p></noscript>
</body>
</html>
`;
  return { text, etag: weakTag(text) };
}
