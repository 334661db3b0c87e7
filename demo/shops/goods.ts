import { createHash, randomInt } from 'node:crypto';
import type { ShopName } from '../actors.ts';

/** What the demo's shops sell: small, but each answer is right. */
export interface Good {
  readonly title: string;
  readonly description: string;
  readonly path: string;
  /** A query that gets an answer. */
  readonly example: string;
  /** Millionths of a dollar, which are atomic units of USDC. */
  readonly price: bigint;
  readonly tags: readonly string[];
  /** The answer, or the fault of the question, which costs nothing. */
  make(query: URLSearchParams): Readonly<Record<string, unknown>> | Wrong;
}

export class Wrong {
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}

export const GOODS: Readonly<Record<ShopName, Good>> = {
  'fair-dice': {
    title: 'Fair Dice',
    description: 'Random numbers: dice with any number of sides, from a cryptographic source.',
    path: '/roll',
    example: 'sides=6&count=3',
    price: 1_000n,
    tags: ['random number', 'dice'],
    make: roll,
  },
  'unit-converter': {
    title: 'Unit Converter',
    description: 'Unit conversion of lengths and weights, metric and imperial.',
    path: '/convert',
    example: 'value=26.2&from=mi&to=km',
    price: 2_000n,
    tags: ['unit conversion', 'measurement'],
    make: convert,
  },
  'text-facts': {
    title: 'Text Facts',
    description: 'Text analysis: counts words and characters, reading time, SHA-256 of a text.',
    path: '/text-facts',
    example: 'text=pay%20per%20call',
    price: 3_000n,
    tags: ['text analysis', 'word count'],
    make: textFacts,
  },
};

const SIDES_MAX = 1_000_000;
const COUNT_MAX = 100;

function roll(query: URLSearchParams): Readonly<Record<string, unknown>> | Wrong {
  const sides = Number(query.get('sides') ?? 6);
  const count = Number(query.get('count') ?? 1);
  if (!isWhole(sides, SIDES_MAX)) return new Wrong(`sides must be a whole number from 1 to ${SIDES_MAX}`);
  if (!isWhole(count, COUNT_MAX)) return new Wrong(`count must be a whole number from 1 to ${COUNT_MAX}`);
  const rolls = Array.from({ length: count }, () => 1 + randomInt(sides));
  return { sides, rolls, sum: rolls.reduce((sum, one) => sum + one, 0) };
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

/** In metres and in grams, by definition of the international yard and pound. */
const UNITS: Readonly<Record<string, readonly ['length' | 'weight', number]>> = {
  mm: ['length', 0.001],
  cm: ['length', 0.01],
  m: ['length', 1],
  km: ['length', 1_000],
  in: ['length', 0.0254],
  ft: ['length', 0.3048],
  yd: ['length', 0.9144],
  mi: ['length', 1_609.344],
  g: ['weight', 1],
  kg: ['weight', 1_000],
  oz: ['weight', 28.349523125],
  lb: ['weight', 453.59237],
};
const SIGNIFICANT_DIGITS = 10;

function convert(query: URLSearchParams): Readonly<Record<string, unknown>> | Wrong {
  const text = query.get('value');
  const value = Number(text);
  if (text === null || text.trim() === '' || !Number.isFinite(value))
    return new Wrong('value must be a number');
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const [source, target] = [unitNamed(from), unitNamed(to)];
  if (source === undefined || target === undefined)
    return new Wrong(`from and to must be one of ${Object.keys(UNITS).join(', ')}`);
  if (source[0] !== target[0]) return new Wrong(`${from} is a ${source[0]}, ${to} is a ${target[0]}`);
  const result = Number(((value * source[1]) / target[1]).toPrecision(SIGNIFICANT_DIGITS));
  return { value, from, to, result };
}

function unitNamed(name: string): (typeof UNITS)[string] | undefined {
  return Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
}

const TEXT_CHARS_MAX = 4_000;
/** Usual silent reading of English. */
const WORDS_PER_MINUTE = 240;

function textFacts(query: URLSearchParams): Readonly<Record<string, unknown>> | Wrong {
  const text = query.get('text') ?? '';
  if (text === '' || text.length > TEXT_CHARS_MAX)
    return new Wrong(`text must have 1 to ${TEXT_CHARS_MAX} characters`);
  const words = text.split(/\s+/u).filter((word) => word !== '').length;
  return {
    characters: [...text].length,
    words,
    reading_seconds: Math.ceil((words / WORDS_PER_MINUTE) * 60),
    sha256: createHash('sha256').update(text).digest('hex'),
  };
}
