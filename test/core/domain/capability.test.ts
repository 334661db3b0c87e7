import { describe, expect, test } from 'vitest';
import {
  CAPABILITIES,
  CAPABILITIES_MAX,
  type CapabilityClues,
  capabilitiesOf,
} from '../../../core/domain/capability.ts';

const NOTHING: CapabilityClues = { name: '', description: '', url: '', tags: [], skills: [] };
const of = (clues: Partial<CapabilityClues>): string[] => capabilitiesOf({ ...NOTHING, ...clues });

describe('the catalogue', () => {
  test('has at least thirty jobs, each with a slug of its own and something to say', () => {
    expect(CAPABILITIES.length).toBeGreaterThanOrEqual(30);
    expect(new Set(CAPABILITIES.map(({ slug }) => slug)).size).toBe(CAPABILITIES.length);
    for (const { slug, name, group, unit, summary, phrases } of CAPABILITIES) {
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(
        [name, group, unit, summary].every((text) => text.trim() !== ''),
        slug,
      ).toBe(true);
      expect(phrases.length, slug).toBeGreaterThan(2);
    }
  });

  test('no phrase names two jobs', () => {
    const owners = CAPABILITIES.flatMap(({ slug, phrases }) => phrases.map((phrase) => ({ slug, phrase })));
    const shared = owners.filter(({ slug, phrase }) =>
      owners.some((other) => other.slug !== slug && other.phrase === phrase),
    );
    expect(shared).toEqual([]);
  });

  test('every phrase is found where it stands alone as a tag', () => {
    for (const { slug, phrases } of CAPABILITIES)
      for (const phrase of phrases) expect(of({ tags: [phrase] }), phrase).toContain(slug);
  });
});

describe('the rule', () => {
  test.each([
    ['a tag decides', { tags: ['web-search'] }, ['web-search']],
    ['an MCP tool name does', { skills: ['getTokenPrices'] }, ['price-feeds']],
    ['an OASF skill does', { skills: ['natural_language_processing/text_summarization'] }, ['summarization']],
    [
      'the path of the URL does',
      { url: 'https://api.example/v1/image_generation?x=1' },
      ['image-generation'],
    ],
    ['the name does', { name: 'Weather by the call' }, ['weather']],
    ['one mention in a description does not', { description: 'Unlike a translator, this writes.' }, []],
    [
      'a mention and a name do',
      { name: 'Scribe', description: 'Transcribe audio', url: 'https://x.example/transcribe' },
      ['transcription'],
    ],
    ['the host of a URL says nothing', { url: 'https://weather.example/v1/run' }, []],
    ['words inside words say nothing', { tags: ['gamete', 'serpent'], name: 'renewsable' }, []],
    ['nothing offers nothing', {}, []],
  ])('%s', (_, clues, expected) => {
    expect(of(clues)).toEqual(expected);
  });

  test('the strongest come first, and never more than the bound', () => {
    expect(of({ tags: ['weather'], name: 'weather and news' })).toEqual(['weather', 'news']);
    const everything = CAPABILITIES.flatMap(({ phrases }) => [...phrases]);
    expect(of({ tags: everything })).toHaveLength(CAPABILITIES_MAX);
  });

  test('case, separators and a plural make no difference', () => {
    for (const spelled of ['Web Search', 'web_search', 'webSearch', 'WEB-SEARCH', 'web/search'])
      expect(of({ tags: [spelled] }), spelled).toEqual(['web-search']);
  });

  test('only the beginning of a text counts, and a broken URL is no reason to fail', () => {
    const filler = 'word '.repeat(400);
    expect(of({ name: `web search ${filler}` })).toEqual(['web-search']);
    expect(of({ name: `${filler} web search` })).toEqual([]);
    expect(of({ tags: [...Array.from({ length: 200 }, () => 'word'), 'web search'] })).toEqual([]);
    expect(of({ url: 'https://x.example/weather/%E0%A4%A' })).toEqual(['weather']);
    expect(of({ url: 'not a URL' })).toEqual([]);
  });
});
