import type { ChainConfig } from '../core/config/chains.ts';
import { DEFAULT_START_BLOCK } from '../core/config/load.ts';
import { providerName } from '../core/log.ts';

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

/**
 * Where the history of a chain begins that the configuration leaves to us, in a line for each: a person who starts the service for the
 * first time sees payments of one day and must not take them for all.
 */
export function whereHistoryBegins(chains: readonly Pick<ChainConfig, 'facts' | 'startBlock'>[]): string {
  return chains
    .filter(({ startBlock }) => startBlock === DEFAULT_START_BLOCK)
    .map(({ facts: { slug, blockTimeMs }, startBlock }) => {
      const hours = Math.round((-startBlock * blockTimeMs) / MS_PER_HOUR);
      return `  ${slug} is read from ${hours} hours before the first start on. For earlier payments set its startBlock, at any time (docs/operators.md).\n`;
    })
    .join('');
}

/** Where each chain is read from, in a line for each: which hosts this machine will ask for what. */
export function whereBlocksComeFrom(
  chains: readonly Pick<ChainConfig, 'facts' | 'rpcUrls' | 'portal'>[],
): string {
  return chains
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .map(({ facts: { slug }, rpcUrls, portal }) => {
      const nodes = `JSON-RPC (${[...new Set(rpcUrls.map(providerName))].join(', ')})`;
      if (portal === null) return `  ${slug}: every block over ${nodes}\n`;
      const { url, dataset, requestsPer10Seconds } = portal;
      return `  ${slug}: history from the SQD Portal (${providerName(url)}, ${dataset}, at most ${requestsPer10Seconds} requests in 10 s; --no-portal reads without it), new blocks over ${nodes}\n`;
    })
    .join('');
}

const MS_PER_HOUR = 3_600_000;

export type OpenLine = readonly [name: string, value: string];

const NAME_COLUMN_CHARS = 15;
