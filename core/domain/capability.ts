import CATALOGUE from './capabilities.json' with { type: 'json' };
import type { Chain } from './chains.ts';
import type { UnobservedReason } from './unobserved.ts';

/**
 * Capabilities that services offer, and the rule that assigns them to a listing or an agent. The catalogue is data
 * (capabilities.json); the rule is here, and docs/capabilities.md describes it.
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

/** How a listing or a service describes itself. Every text may be long, hostile or empty. */
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

/** Raise with every change of the rule or the catalogue: rows that were mapped with another version are mapped again. */
export const CAPABILITY_RULE_VERSION = 1;

/** Weight of a phrase by its place: a tag or a skill is a deliberate choice, a description only mentions it. */
export const CLUE_POINTS = { tag: 3, skill: 3, name: 2, path: 2, description: 1 } as const;
/** Reached by one tag or skill, or by two mentions. */
export const POINTS_NEEDED = 2;
/** Only the strongest are kept: a text that names everything offers nothing in particular. */
export const CAPABILITIES_MAX = 5;
/** Words that are read of each text. */
const WORDS_MAX = 300;
const TEXTS_MAX = 100;

/** Phrases by their first word. */
const PHRASES = phraseIndex();

/**
 * The slugs of the capabilities that the clues point to, strongest first, ties in catalogue order. A phrase counts once per kind
 * of place, matched as whole words; case, punctuation, camelCase and a plural s are ignored.
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

/** A crude singular. Enough for the catalogue's words, because both sides go through it. */
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
    return path; // a malformed escape is taken literally
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
  /** Every payee that its item names on the same kind of network, sorted: they are of one seller, who lists them together. */
  readonly itemPayTos: readonly string[];
  /** Why no payment for it can be observed, as far as the offer itself says; '' where one can. */
  readonly unobserved: UnobservedReason | '';
  /** 0 where it is not given. */
  readonly maxTimeoutSeconds: number;
  readonly serviceName: string;
  readonly description: string;
  readonly mimeType: string;
  readonly tags: readonly string[];
  /** Unix seconds; 0 where the listing does not say, or says nonsense. */
  readonly lastUpdated: number;
  /** JSON of what the listing says of input and output; '' where it says nothing. */
  readonly discovery: string;
}

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];
