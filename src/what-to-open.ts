/**
 * What a person opens first. `npm start` and `npm run demo` end with it. `url` is where the API listens; `more` are further lines.
 *
 * ```ts
 * process.stdout.write(whatToOpen('http://127.0.0.1:8402'));
 * ```
 */
export function whatToOpen(url: string, more: readonly OpenLine[] = []): string {
  const lines: readonly OpenLine[] = [
    ['console', `${url}/console`],
    ['docs', `${url}/docs`],
    ['API', `${url}/v0`],
    ['MCP', `${url}/mcp`],
    ...more,
  ];
  return `\n${lines.map(([name, value]) => `  ${name.padEnd(NAME_COLUMN_CHARS)}${value}\n`).join('')}\n`;
}

export type OpenLine = readonly [name: string, value: string];

const NAME_COLUMN_CHARS = 15;
