import CATALOGUE from './capabilities.json' with { type: 'json' };
import type { Chain } from './chains.ts';

/**
 * Jobs that services offer, and the rule that says which of them a listing or an agent offers. The catalogue is data
 * (capabilities.json); the rule is here and is told in docs/capabilities.md.
 */

export interface Capability {
  /** Lower-case words joined by hyphens, stable. */
  readonly slug: string;
  readonly name: string;
  readonly group: string;
  /** What one price usually buys: query, image, minute, token, … */
  readonly unit: string;
  readonly summary: string;
  /** Words that name the job, in lower case. */
  readonly phrases: readonly string[];
}

/** What a listing or a service says of itself; every text may be long, hostile or empty. */
export interface CapabilityClues {
  readonly name: string;
  readonly description: string;
  /** URL of the resource or endpoint; only its path counts. */
  readonly url: string;
  readonly tags: readonly string[];
  /** OASF skills and domains, A2A skills, MCP tool names. */
  readonly skills: readonly string[];
}

export const CAPABILITIES: readonly Capability[] = CATALOGUE;

/** Raised with every change of the rule or of the catalogue: what was mapped by another one is mapped anew. */
export const CAPABILITY_RULE_VERSION = 1;

/** What a phrase is worth where it stands: a tag or a skill is chosen, a description merely mentions. */
export const CLUE_POINTS = { tag: 3, skill: 3, name: 2, path: 2, description: 1 } as const;
/** One chosen word, or two mentions. */
export const POINTS_NEEDED = 2;
/** The strongest ones: a text that names everything offers nothing in particular. */
export const CAPABILITIES_MAX = 5;
/** Words that are looked at in each text. */
const WORDS_MAX = 300;
const TEXTS_MAX = 100;

/** Phrases by their first word. */
const PHRASES = phraseIndex();

/**
 * The slugs of the capabilities that the clues speak of, strongest first, ties in the order of the catalogue. A phrase counts
 * once in each kind of place, as whole words: case, punctuation, camelCase and a plural s make no difference.
 */
export function capabilitiesOf(clues: CapabilityClues): string[] {
  const points = new Map<string, number>();
  const count = (texts: readonly string[], worth: number): void => {
    const found = new Set(texts.slice(0, TEXTS_MAX).flatMap((text) => phrasesIn(wordsOf(text))));
    for (const { slug } of found) points.set(slug, (points.get(slug) ?? 0) + worth);
  };
  count(clues.tags, CLUE_POINTS.tag);
  count(clues.skills, CLUE_POINTS.skill);
  count([clues.name], CLUE_POINTS.name);
  count([pathOf(clues.url)], CLUE_POINTS.path);
  count([clues.description], CLUE_POINTS.description);
  return CAPABILITIES.map(({ slug }) => ({ slug, points: points.get(slug) ?? 0 }))
    .filter((found) => found.points >= POINTS_NEEDED)
    .sort((one, other) => other.points - one.points)
    .slice(0, CAPABILITIES_MAX)
    .map(({ slug }) => slug);
}

interface Phrase {
  readonly slug: string;
  readonly words: readonly string[];
}

function phraseIndex(): ReadonlyMap<string, readonly Phrase[]> {
  const index = new Map<string, Phrase[]>();
  for (const { slug, phrases } of CAPABILITIES)
    for (const phrase of phrases) {
      const words = wordsOf(phrase);
      const [first = ''] = words;
      index.set(first, [...(index.get(first) ?? []), { slug, words }]);
    }
  return index;
}

function phrasesIn(words: readonly string[]): Phrase[] {
  return words.flatMap((word, at) =>
    (PHRASES.get(word) ?? []).filter((phrase) =>
      phrase.words.every((part, step) => words[at + step] === part),
    ),
  );
}

/** `getTokenPrices` and `get-token_price` are the same words. */
function wordsOf(text: string): string[] {
  return text
    .slice(0, WORDS_MAX * 12)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX)
    .map(singular);
}

/** Good enough for the words of the catalogue, and the same on both sides. */
function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function pathOf(url: string): string {
  return URL.canParse(url) ? safeDecode(new URL(url).pathname) : '';
}

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a broken escape is read as it stands
  }
}

/** One way to pay for one priced resource, as a listing publishes it, read tolerantly. Source: the x402 specification, discovery. */
export interface EndpointOffer {
  /** Absolute http or https URL, without credentials and fragment. */
  readonly resource: string;
  /** GET where the listing does not say. */
  readonly method: EndpointMethod;
  /** As published: a version 1 name (`base`) or CAIP-2, also of networks that are no EVM chains. */
  readonly network: string;
  /** Null where the network is no EVM chain that we can name. */
  readonly chain: Chain | null;
  readonly scheme: string;
  /** On an EVM network a lower-case address, elsewhere as published. */
  readonly asset: string;
  readonly payTo: string;
  /** Atomic units of the asset; null where it is not given. */
  readonly amount: bigint | null;
  /** Null where no dollar price is declared and the asset is no dollar token of ours. */
  readonly priceUsdMicros: bigint | null;
  /** 0 where it is not given. */
  readonly maxTimeoutSeconds: number;
  readonly serviceName: string;
  readonly description: string;
  readonly mimeType: string;
  readonly tags: readonly string[];
  /** Unix seconds; 0 where the listing does not say, or says nonsense. */
  readonly lastUpdated: number;
}

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];
