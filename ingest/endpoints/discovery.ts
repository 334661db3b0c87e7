import { displayText } from '../../core/domain/display-text.ts';
import { fieldAt, fieldOf, isObject } from '../fetch/document.ts';

/**
 * What an item says of its input and output: `outputSchema` of version 1, the extension `bazaar` of version 2. Untrusted: kept as JSON of
 * bounded size and depth whose every text is safe to show. Source: the extension `bazaar` in the specifications of x402-foundation/x402.
 */

/** A parameter with its description takes some 150 bytes. */
const DISCOVERY_MAX_CHARS = 6_000;
/** A schema has its fields at the sixth level. */
const DEPTH_MAX = 10;
const FIELDS_MAX = 60;
const NAME_MAX_CHARS = 80;
const TEXT_MAX_CHARS = 400;
/** Safe as it is, which saves most texts the longer way. */
const PLAIN = /^[\x20-\x7e]*$/;

/** JSON of an object with `input`, and where they are said and short enough `output` and `schema`; '' where nothing is said. */
export function readDiscovery(item: unknown, entry: unknown): string {
  const bazaar = fieldAt(item, 'extensions', 'bazaar');
  const places = [
    fieldOf(bazaar, 'info'),
    fieldOf(entry, 'outputSchema'),
    fieldOf(item, 'outputSchema'),
    fieldOf(item, 'metadata'),
  ];
  const said = places.find((place) => isObject(fieldOf(place, 'input')));
  if (said === undefined) return '';
  const input = safeJson(fieldOf(said, 'input'), DEPTH_MAX);
  const output = safeJson(fieldOf(said, 'output') ?? null, DEPTH_MAX);
  const schema = said === places[0] ? safeJson(fieldOf(bazaar, 'schema') ?? null, DEPTH_MAX) : null;
  const forms = [{ input, output, schema }, { input, schema }, { input, output }, { input }];
  return forms.map((form) => JSON.stringify(form)).find(({ length }) => length <= DISCOVERY_MAX_CHARS) ?? '';
}

/** The value without what is too deep, too many or not safe to show. */
function safeJson(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return safeText(value, TEXT_MAX_CHARS);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.slice(0, FIELDS_MAX).map((one) => safeJson(one, depth - 1));
  if (!isObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, FIELDS_MAX)
      .map(([name, field]) => [safeText(name, NAME_MAX_CHARS), safeJson(field, depth - 1)] as const)
      .filter(([name]) => name !== '' && name !== '__proto__'),
  );
}

function safeText(text: string, maxChars: number): string {
  return text.length <= maxChars && PLAIN.test(text) ? text : displayText(text, maxChars);
}
