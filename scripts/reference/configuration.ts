import { configKeys } from '../../core/config/config.ts';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { code, generatedHead, table } from './markdown.ts';

const INTRO = `One schema, read from \`settlement-index.config.json\` in the working directory (or the file named by \`--config\` or \`SETTLEMENT_INDEX_CONFIG\`);
environment variables override it. \`RPC_URL_<chain id>\` (for example \`RPC_URL_8453\`) sets the RPC URLs of one chain, separated by commas.
Every variable may be given as a file instead: \`CLICKHOUSE_PASSWORD_FILE\` names a file that holds the value of \`CLICKHOUSE_PASSWORD\`.

`;

/** A table for each group of keys, named by their first part; keys without a group come first. */
function configurationTables(): string {
  const rows = new Map<string, string[][]>([['', []]]);
  for (const { key, schema } of configKeys()) {
    const [first = '', ...rest] = key.split('.');
    const group = rest.length === 0 ? '' : first;
    rows.set(group, [
      ...(rows.get(group) ?? []),
      [
        code(key),
        environmentOf(key),
        schema['default'] === undefined ? '' : code(JSON.stringify(schema['default'])),
        String(schema['description'] ?? ''),
      ],
    ]);
  }
  return [...rows]
    .map(([group, keys]) => {
      const heading = group === '' ? 'The process and its chains' : `${code(group)} settings`;
      return `## ${heading}\n\n${table(['key', 'environment', 'default', 'meaning'], keys)}`;
    })
    .join('\n');
}

function environmentOf(key: string): string {
  return Object.entries(ENVIRONMENT)
    .filter(([, path]) => path === key || path.startsWith(`${key}.`))
    .map(([name]) => code(name))
    .join(', ');
}

export function configurationPage(): string {
  return `${generatedHead('Configuration', 'core/config/config.ts')}${INTRO}${configurationTables()}\n## A chain (entry of \`chains\`)\n\n${entryTable('chains')}\n## A facilitator (entry of \`catalogue.facilitators\`)\n\n${entryTable('catalogue.facilitators')}\n## A payee (entry of \`catalogue.payees\`)\n\n${entryTable('catalogue.payees')}`;
}

function entryTable(key: string): string {
  const list = configKeys().find((entry) => entry.key === key);
  if (list === undefined) throw new Error(`there is no configuration key ${key}`);
  return table(
    ['key', 'type', 'meaning'],
    configKeys(list.schema['items']).map(({ key: name, schema }) => [
      code(name),
      String(schema['type'] ?? 'one of'),
      String(schema['description'] ?? ''),
    ]),
  );
}
