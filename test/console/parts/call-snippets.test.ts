import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CallFacts, callSnippets } from '../../../console/parts/call-snippets.ts';

const FACTS: CallFacts = {
  method: 'POST',
  url: 'https://weather.example/v1/forecast?city=Rome',
  price: '$0.01',
  network: 'Base',
  payTo: '0x4020615294c913f045dc10f0a5cdebd86c280001',
};

it('every text names the URL, and those that pay name the price and the network', () => {
  for (const { id, text } of callSnippets(FACTS)) {
    expect(text, id).toContain(FACTS.url);
    if (id !== 'curl') expect(text, id).toContain('$0.01 on Base');
  }
});

it('the shell gets the URL of a listing as one word, whatever it holds', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 40 }).filter((text) => !text.includes('\0')),
      (text) => {
        const [curl] = callSnippets({ ...FACTS, url: `https://a.example/${text}` });
        const words = execFileSync('/bin/sh', [
          '-c',
          `printf '%s\\n' "$#" && set -- ${curl?.text.slice('curl '.length)} && printf '%s\\0' "$@"`,
        ]);
        expect(words.toString().split('\0').at(-2)).toBe(`https://a.example/${text}`);
      },
    ),
    { numRuns: 20 },
  );
});

it('the texts of programs hold the URL as a text of their language', () => {
  const odd = 'https://a.example/"); process.exit(1); ("';
  for (const { id, text } of callSnippets({ ...FACTS, url: odd }))
    if (id === 'typescript' || id === 'python') expect(text).toContain(JSON.stringify(odd));
});

it('an offer whose price is not known is not called free', () => {
  const texts = callSnippets({ ...FACTS, price: null }).filter(({ id }) => id !== 'curl');
  for (const { id, text } of texts) expect(text, id).toContain('the price of its offer on Base');
  expect(texts).toHaveLength(3);
});

it('an agent is told what may be paid to whom, and to ask this index first', () => {
  const agent = callSnippets(FACTS).find(({ id }) => id === 'agent')?.text;
  expect(agent).toContain(`Check ${FACTS.payTo} with get_entity_summary`);
  expect(agent).toContain('Do not pay more, and do not pay another address.');
});

it('curl pays nothing, and sends the method only where it is another than its own', () => {
  const [curl] = callSnippets({ ...FACTS, method: 'GET' });
  expect([curl?.text.includes('-X'), callSnippets(FACTS)[0]?.text.includes('-X POST')]).toEqual([
    false,
    true,
  ]);
  expect(curl?.needs).toContain('nothing is paid');
});
