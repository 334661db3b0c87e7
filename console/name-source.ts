/** Where a name is from. Names of agents and listings are claims of their publishers, so no name stands without its source. */

const SOURCES: Readonly<Record<string, string>> = {
  agent_card: 'named by its agent card',
  endpoint_catalogue: 'named by a listing of endpoints',
  operator_catalogue: 'named by this service',
  facilitator: 'named by the table of facilitators',
};

/** `named by its agent card`. */
export function nameSourceText(source: string | null | undefined): string {
  if (source === null || source === undefined) return 'no name known';
  return SOURCES[source] ?? `named by ${source.replaceAll('_', ' ')}`;
}

const CATALOGUE_SOURCES: Readonly<Record<string, string>> = {
  'built-in': 'built-in table',
  configured: 'configuration of this service',
  file: 'catalogue file',
  supported: '/supported answer of the facilitator',
};

/** Where the catalogue of facilitators has an entry from: `built-in table`. */
export function catalogueSourceText(source: string): string {
  return CATALOGUE_SOURCES[source] ?? source;
}

const WORDS: Readonly<Record<string, string>> = {
  agent_card: 'agent card',
  endpoint_catalogue: 'listing',
  operator_catalogue: 'this service',
  facilitator: 'facilitators',
};

/** The source in a word or two, next to the address: `agent card`. */
export function nameSourceWord(source: string): string {
  return WORDS[source] ?? source.replaceAll('_', ' ');
}
