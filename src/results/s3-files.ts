import { AwsClient } from 'aws4fetch';
import { textBetween } from '../../core/text.ts';
import { checkedName, isResultName, type ResultFiles, ResultFilesUnavailable } from './result-files.ts';

/** S3-compatible storage, as the configuration names it. */
export interface S3Storage {
  /** URL of the service; the bucket is the first part of the path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** What names of objects begin with. */
  readonly prefix: string;
}

const REQUEST_MAX_MS = 60_000;
const ATTEMPTS_AGAIN = 2;
const LIST_PAGE = 1_000;

/** Kept results in S3-compatible storage, whose objects are whole or absent by themselves. */
export function s3Files({
  endpoint,
  bucket,
  region,
  accessKeyId,
  secretAccessKey,
  prefix,
}: S3Storage): ResultFiles {
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    retries: ATTEMPTS_AGAIN,
  });
  const root = `${endpoint.replace(/(?<!\/)\/+$/, '')}/${encodeURIComponent(bucket)}`;
  const urlOf = (name: string): string => `${root}/${prefix}${checkedName(name)}`;
  const send = async (
    url: string,
    request: RequestInit,
    isFine: (status: number) => boolean,
  ): Promise<Response> => {
    const answer = await client
      .fetch(url, { ...request, signal: AbortSignal.timeout(REQUEST_MAX_MS) })
      .catch((error: unknown) => {
        throw new ResultFilesUnavailable(new Error(error instanceof Error ? error.name : 'unknown'));
      });
    if (isFine(answer.status)) return answer;
    await answer.body?.cancel();
    throw new ResultFilesUnavailable(new Error(`the storage answers ${answer.status}`));
  };
  return {
    write: async (name, bytes) => {
      const answer = await send(urlOf(name), { method: 'PUT', body: new Uint8Array(bytes) }, isGood);
      await answer.body?.cancel();
    },
    read: async (name, part) => {
      const headers: Record<string, string> =
        part === undefined ? {} : { range: `bytes=${part.from}-${part.to - 1}` };
      const answer = await send(
        urlOf(name),
        { method: 'GET', headers },
        (status) => isGood(status) || status === 404,
      );
      if (answer.status !== 404) {
        const bytes = Buffer.from(await answer.arrayBuffer());
        // A storage may leave the range aside and answer with all of it.
        const isPart = part === undefined || bytes.length === part.to - part.from;
        return isPart ? bytes : bytes.subarray(part.from, part.to);
      }
      await answer.body?.cancel();
      return null;
    },
    remove: async (name) => {
      const answer = await send(
        urlOf(name),
        { method: 'DELETE' },
        (status) => isGood(status) || status === 404,
      );
      await answer.body?.cancel();
    },
    writtenUntil: async ({ atMs, limit }) => {
      const found: string[] = [];
      for await (const { key, writtenAtMs } of objects()) {
        const name = key.slice(prefix.length);
        if (writtenAtMs <= atMs && isResultName(name)) found.push(name);
        if (found.length === limit) break;
      }
      return found;
    },
    room: async () => {
      let usedBytes = 0;
      for await (const { bytes } of objects()) usedBytes += bytes;
      return { usedBytes, freeBytes: null };
    },
  };

  async function* objects(): AsyncGenerator<StoredObject> {
    for (let after = ''; ; ) {
      const query = new URLSearchParams({
        'list-type': '2',
        prefix,
        'max-keys': String(LIST_PAGE),
        ...(after === '' ? {} : { 'start-after': after }),
      });
      const listed = objectsOf(await (await send(`${root}?${query}`, { method: 'GET' }, isGood)).text());
      yield* listed;
      after = listed.at(-1)?.key ?? '';
      if (listed.length < LIST_PAGE) return;
    }
  }
}

interface StoredObject {
  readonly key: string;
  readonly writtenAtMs: number;
  readonly bytes: number;
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Objects of an answer of ListObjectsV2. Names of ours need no unescaping, and others are no names of ours. */
function objectsOf(xml: string): StoredObject[] {
  const [, ...objects] = xml.split('<Contents>');
  return objects.map((object) => ({
    key: textBetween(object, '<Key>', '</Key>') ?? '',
    writtenAtMs: Date.parse(textBetween(object, '<LastModified>', '</LastModified>') ?? ''),
    bytes: Number(textBetween(object, '<Size>', '</Size>') ?? 0),
  }));
}
