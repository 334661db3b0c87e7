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
    read: async (name) => {
      const answer = await send(urlOf(name), { method: 'GET' }, (status) => isGood(status) || status === 404);
      if (answer.status !== 404) return Buffer.from(await answer.arrayBuffer());
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
      let after = '';
      while (found.length < limit) {
        const query = new URLSearchParams({
          'list-type': '2',
          prefix,
          'max-keys': String(LIST_PAGE),
          ...(after === '' ? {} : { 'start-after': after }),
        });
        const listed = objectsOf(await (await send(`${root}?${query}`, { method: 'GET' }, isGood)).text());
        for (const { key, writtenAtMs } of listed) {
          const name = key.slice(prefix.length);
          if (writtenAtMs <= atMs && isResultName(name) && found.length < limit) found.push(name);
        }
        after = listed.at(-1)?.key ?? '';
        if (listed.length < LIST_PAGE) break;
      }
      return found;
    },
  };
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Objects of an answer of ListObjectsV2. Names of ours need no unescaping, and others are no names of ours. */
function objectsOf(xml: string): { readonly key: string; readonly writtenAtMs: number }[] {
  const [, ...objects] = xml.split('<Contents>');
  return objects.map((object) => ({
    key: textBetween(object, '<Key>', '</Key>') ?? '',
    writtenAtMs: Date.parse(textBetween(object, '<LastModified>', '</LastModified>') ?? ''),
  }));
}
