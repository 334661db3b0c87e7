import fc from 'fast-check';
import { decodeEventLog, type Hex } from 'viem';
import { expect, test } from 'vitest';
import type { Attestation } from '../../../clickhouse/tables/registries.ts';
import { REGISTRY_LIMITS } from '../../../core/domain/agent.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { rowsOfBatch } from '../../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { batchOf, type Event, TOKENS, wallet, word } from '../../kit/chain-logs.ts';
import { type FeedbackArgs, newFeedback, REGISTRIES, REGISTRY_EVENTS } from '../../kit/registry-logs.ts';

const catalogue = buildCatalogue({ facilitators: [], payees: [] });
const context = decodeContextOf({ chain: chainOf(8453), tokens: TOKENS, registries: REGISTRIES }, catalogue);
const rowsOf = (event: Event) => rowsOfBatch(batchOf([[{ events: [event] }]]), context, catalogue);

const label = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '\u{feff}bom', '\0'),
);
const feedback: fc.Arbitrary<FeedbackArgs> = fc.record({
  agentId: fc.bigInt(0n, 2n ** 256n - 1n),
  clientAddress: fc.nat().map(wallet),
  feedbackIndex: fc.bigInt(0n, 2n ** 64n - 1n),
  value: fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n),
  valueDecimals: fc.integer({ min: 0, max: 18 }),
  tag1: label,
  tag2: label,
  endpoint: label,
  feedbackURI: label,
  feedbackHash: fc.bigInt(0n, 2n ** 256n - 1n).map(word),
});

const told = (row: Attestation) => ({
  agentId: row.agentId,
  clientAddress: row.client,
  feedbackIndex: row.feedbackIndex,
  value: row.value,
  valueDecimals: row.valueDecimals,
  tag1: row.tag1,
  tag2: row.tag2,
  endpoint: row.endpoint,
  feedbackURI: row.uri,
  feedbackHash: row.fileHash,
});

test('feedback is decoded as it was given, whatever the texts and numbers', () => {
  fc.assert(
    fc.property(feedback, (given) => {
      const { attestations, deadLetters } = rowsOf(newFeedback(given));
      expect([attestations.map(told), deadLetters]).toEqual([[given], []]);
    }),
  );
});

/** Words as an attacker would choose them: offsets and lengths near and beyond the end, and anything at all. */
const hostileWord = fc.oneof(
  fc.integer({ min: 0, max: 700 }).map(word),
  fc.constantFrom(2n ** 53n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n).map(word),
  fc.bigInt(0n, 2n ** 256n - 1n).map(word),
);

/** The generic decoder's reading, or null where it refuses. */
function decodedByViem({ topics, data }: Event): Record<string, unknown> | null {
  try {
    const { args } = decodeEventLog({
      abi: REGISTRY_EVENTS,
      eventName: 'NewFeedback',
      topics: topics as [Hex, ...Hex[]],
      data: data as Hex,
    });
    return args;
  } catch {
    return null;
  }
}

test('of tampered data something bounded is made or a dead letter, and nothing that a generic decoder reads otherwise', () => {
  const tampering = fc.record({
    given: feedback,
    words: fc.array(fc.tuple(fc.nat({ max: 20 }), hostileWord), { minLength: 1, maxLength: 4 }),
    cutTo: fc.option(fc.nat({ max: 640 })),
  });
  fc.assert(
    fc.property(tampering, ({ given, words, cutTo }) => {
      const event = newFeedback(given);
      const parts = event.data.slice(2).match(/.{64}/g) ?? [];
      for (const [at, value] of words) if (at < parts.length) parts[at] = value.slice(2);
      const whole = `0x${parts.join('')}`;
      const tampered = { ...event, data: cutTo === null ? whole : whole.slice(0, 2 + 2 * cutTo) };
      const { attestations, deadLetters } = rowsOf(tampered);
      expect(attestations.length + deadLetters.length).toBe(1);
      const [row] = attestations;
      const reference = decodedByViem(tampered);
      if (row === undefined) return;
      expect(Buffer.byteLength(row.uri)).toBeLessThanOrEqual(3 * REGISTRY_LIMITS.uriBytesMax);
      if (reference === null) return;
      const { value, valueDecimals, feedbackIndex, tag1, tag2, endpoint, feedbackURI } = told(row);
      // viem's decoder drops a byte order mark, which a text may begin with.
      const plain = (text: unknown): string => String(text).replace(/^\u{feff}/u, '');
      expect([value, valueDecimals, feedbackIndex]).toEqual([
        reference['value'],
        reference['valueDecimals'],
        reference['feedbackIndex'],
      ]);
      expect([tag1, tag2, endpoint, feedbackURI].map(plain)).toEqual(
        ['tag1', 'tag2', 'endpoint', 'feedbackURI'].map((name) => plain(reference[name])),
      );
    }),
    { numRuns: 500 },
  );
});
