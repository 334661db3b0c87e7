import { expect, test } from 'vitest';
import type { AgentCard } from '../../../../core/domain/agent.ts';
import { claimedOrigin } from '../../../../ingest/agents/cards/fetch.ts';

function cardWith(...services: readonly (readonly [name: string, endpoint: string])[]): AgentCard {
  return {
    name: '',
    description: '',
    image: '',
    services: services.map(([name, endpoint]) => ({ name, endpoint, version: '', skills: [], domains: [] })),
    x402Support: false,
    active: true,
    supportedTrust: [],
    registrations: [],
  };
}

const origin = (card: AgentCard, uri: string, isTrial = false): string | undefined =>
  claimedOrigin(card, uri, isTrial)?.href;

test('a card claims the domain of its web service, else of another service, else of its own URI', () => {
  const services = [
    ['MCP', 'https://api.example/mcp'],
    ['Web', 'https://www.example:8443/app?x'],
  ] as const;
  expect(origin(cardWith(...services), 'https://files.example/card.json')).toBe('https://www.example:8443/');
  expect(origin(cardWith(services[0]), 'https://files.example/card.json')).toBe('https://api.example/');
  expect(origin(cardWith(['ENS', 'a.eth']), 'https://files.example/card.json')).toBe(
    'https://files.example/',
  );
  expect(origin(cardWith(['email', 'a@b.example']), 'ipfs://cid')).toBeUndefined();
  expect(origin(cardWith(), 'data:,{}')).toBeUndefined();
});

test('plain HTTP and addresses prove nothing, but in a trial', () => {
  const card = cardWith(
    ['web', 'http://a.example/'],
    ['MCP', 'https://127.0.0.1:1/'],
    ['A2A', 'https://[::1]/'],
  );
  expect(origin(card, 'https://1.2.3.4/')).toBeUndefined();
  expect(origin(card, 'https://1.2.3.4/', true)).toBe('http://a.example/');
});
