import { USD_CURRENCY } from '../../core/domain/amount.ts';
import { KNOWN_CHAINS } from '../../core/domain/known-chains.ts';
import type { AnyOperation } from '../../src/operations/define.ts';

/** The parts of `client/` and `console/` that follow from the declarations. */

/** The first line of each file. */
export const HEAD =
  '// Written by `npm run gen` from the declarations in src/operations. Changes here are lost.\n\n';

const TOKENS_HEAD = `/** Tokens that are worth a dollar, with their decimals, by CAIP-2 chain and address, hex in lower case. */
export const DOLLAR_TOKENS: Readonly<Record<string, number>> = {
`;

const CHAINS_HEAD = `// Written by \`npm run gen\` from core/domain/known-chains.ts. Changes here are lost.

export const CHAIN_NAMES: Readonly<Record<string, string>> = {
`;

export function clientTokens(): string {
  const entries = KNOWN_CHAINS.flatMap(({ chain, tokens }) =>
    tokens
      .filter(({ currency }) => currency === USD_CURRENCY)
      .map(({ address, decimals }) => `  '${chain}/${address}': ${decimals},\n`),
  );
  return `${HEAD}${TOKENS_HEAD}${entries.join('')}};\n`;
}

/** The names of chains as the console writes them, by CAIP-2 name. */
export function consoleChains(): string {
  const entries = KNOWN_CHAINS.map(({ chain, name }) => `  '${chain}': '${name}',\n`);
  return `${CHAINS_HEAD}${entries.join('')}};\n`;
}

const SYMBOLS_HEAD = `// Written by \`npm run gen\` from core/domain/known-chains.ts. Changes here are lost.

/** Symbols of the tokens that are indexed, by address, hex in lower case. */
export const TOKEN_SYMBOLS: Readonly<Record<string, string>> = {
`;

/** The symbols of tokens as the console writes them, by address. */
export function consoleTokens(): string {
  const entries = KNOWN_CHAINS.flatMap(({ tokens }) =>
    tokens.map(
      ({ address, symbol }) => `  ${/^\d/.test(address) ? `'${address}'` : address}: '${symbol}',\n`,
    ),
  );
  return `${SYMBOLS_HEAD}${[...new Set(entries)].join('')}};\n`;
}

/** The methods of the client and where they lead. A query has methods of its own, written by hand. */
export function clientOperations(operations: readonly AnyOperation[]): string {
  const gets = operations.filter(({ method }) => method === 'GET');
  const imports = "import type { ListMethod, Method, RepeatableOptions } from './call.ts';\n\n";
  const methods = gets.map(
    (operation) => `${comment(operation)}  ${operation.id}: ${methodOf(operation)};\n`,
  );
  const routes = gets.map((operation) => `  ${operation.id}: ${routeOf(operation)},\n`);
  return [
    HEAD,
    imports,
    `/** One method for each operation of the API. */\nexport interface Operations {\n${methods.join('\n')}}\n\n`,
    `export const ROUTES = {\n${routes.join('')}} as const;\n`,
  ].join('');
}

function comment({ summary, description, price, path }: AnyOperation): string {
  const paragraphs = [`${summary}.`, description, `Price: ${price.meaning}`, `\`GET /v0${path}\``];
  const lines = paragraphs.filter((text) => text !== '').flatMap((text) => ['', ...wrapped(text)]);
  return `  /**\n${lines
    .slice(1)
    .map((line) => (line === '' ? '   *\n' : `   * ${line}\n`))
    .join('')}   */\n`;
}

const LINE_MAX_CHARS = 104;

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > LINE_MAX_CHARS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function methodOf(operation: AnyOperation): string {
  const { id, price } = operation;
  if (operation.paging !== 'none') return `ListMethod<'${id}', '${rowsOf(operation)}'>`;
  return price.class === 'sold' ? `Method<'${id}', RepeatableOptions>` : `Method<'${id}'>`;
}

function routeOf(operation: AnyOperation): string {
  const { path, paging, price } = operation;
  if (paging !== 'none') return `{ path: '${path}', rows: '${rowsOf(operation)}', paging: '${paging}' }`;
  return price.class === 'sold' ? `{ path: '${path}', mintsKey: true }` : `{ path: '${path}' }`;
}

/** The one list that every page has. */
function rowsOf({ id, output }: AnyOperation): string {
  const lists = Object.entries(output.properties).filter(
    ([name, { type }]) => type === 'array' && output.required?.includes(name),
  );
  const [only, ...others] = lists;
  if (only === undefined || others.length > 0) throw new Error(`${id} has ${lists.length} lists on a page`);
  return only[0];
}
