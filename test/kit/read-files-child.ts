import { readCard } from '../../ingest/agents/cards/read.ts';
import { readItem } from '../../ingest/endpoints/item.ts';
import { parseJson } from '../../ingest/fetch/document.ts';
import { readDataUri } from '../../ingest/fetch/uri.ts';

/** Reads files of strangers, one at a time, in a process whose time can be measured: cards of agents, items of listings, `data:` URIs. */

const BYTES_MAX = 1024 * 1024;
const text = (value: string): string => JSON.stringify(value);

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  card: (file) => readCard(Buffer.from(file)),
  'text of a card': (word) =>
    readCard(
      Buffer.from(
        `{"name":${text(word)},"description":${text(word)},"image":${text(word)},"services":[{"name":${text(word)},"endpoint":${text(word)},"version":${text(word)}}],"supportedTrust":${text(word)},"registrations":[{"agentId":${text(word)},"agentRegistry":${text(word)}}]}`,
      ),
    ),
  listing: (file) => readItem(parseJson(file), FACTS),
  'text of a listing': (word) =>
    readItem(
      {
        resource: `https://a.example/${word}`,
        description: word,
        mimeType: word,
        tags: [word],
        lastUpdated: word,
        accepts: [{ scheme: 'exact', network: word, asset: word, payTo: word, maxAmountRequired: word }],
        metadata: { description: word, input: word },
      },
      FACTS,
    ),
  'data: URI': (uri) => caught(() => readDataUri(`data:${uri}`, BYTES_MAX)),
};

const FACTS = {
  tokens: { addressOf: () => null, tokenOf: () => ({ decimals: 6, currency: 'USD' }) },
  nowSeconds: 1_790_000_000,
};

function caught(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

process.on('message', ({ reader, file }: { readonly reader: string; readonly file: string }) => {
  READERS[reader]?.(file);
  process.send?.('read');
});
process.send?.(Object.keys(READERS));
