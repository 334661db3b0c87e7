import type { Log } from '../../core/log.ts';
import { withDeadline } from '../../core/process/deadline.ts';
import {
  type DocumentFetcher,
  type FetchedDocument,
  FetchFailed,
  type FetchOptions,
  type FetchProblem,
} from './document.ts';
import { requestHop } from './hop.ts';
import {
  classifyAddress,
  permittedTarget,
  type ResolveHost,
  resolveHost,
  type Target,
  type TargetRules,
} from './target.ts';
import { type IpfsPath, isIpfsUri, readDataUri, readIpfsUri } from './uri.ts';

export interface SafeFetchSettings {
  /** Base URLs of IPFS gateways, tried in turn. The operator configured them: their addresses may be private. */
  readonly ipfsGateways: readonly string[];
  /** Allows loopback, at any port and without TLS. For the demo and tests. Never opens any other private network. */
  readonly allowPrivateHosts: boolean;
  /** Allows `http:` to public hosts. */
  readonly allowHttp: boolean;
  /** Ports in addition to 80, 443, 8080 and 8443. */
  readonly ports: readonly number[];
}

export interface SafeFetchDeps {
  readonly settings: SafeFetchSettings;
  readonly log: Log;
  readonly resolve?: ResolveHost;
  readonly deadlineMs?: number;
  /** For tests, which have no public addresses. */
  readonly classify?: typeof classifyAddress;
  readonly ca?: string;
}

/** Time limit of DNS, connections, redirects and the body together; for IPFS per gateway. */
const DEADLINE_MS = 10_000;
const REDIRECTS_MAX = 4;
const URL_MAX_CHARS = 4_096;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The fetcher for untrusted URIs; `DocumentFetcher` has the contract, docs/identities.md the reasons. */
export function createSafeFetcher(deps: SafeFetchDeps): DocumentFetcher {
  const { settings, log } = deps;
  const deadlineMs = deps.deadlineMs ?? DEADLINE_MS;
  const rules: TargetRules = {
    settings,
    resolve: deps.resolve ?? resolveHost,
    classify: deps.classify ?? classifyAddress,
  };

  const fetchUrl = async (start: string, options: FetchOptions, gateway: URL | null) =>
    withDeadline(deadlineMs, options.signal, async ({ signal, isOver }): Promise<FetchedDocument> => {
      try {
        return await followHops(start, { ...options, signal }, gateway);
      } catch (error) {
        options.signal.throwIfAborted();
        return { ok: false, problem: isOver() ? 'timeout' : problemOf(error, log) };
      }
    });

  const followHops = async (
    start: string,
    options: FetchOptions,
    gateway: URL | null,
  ): Promise<FetchedDocument> => {
    let target: Target | null = null;
    let next = start;
    for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
      const from: Target | null = target;
      target = await permittedTarget(readUrl(next, from?.url.href), {
        rules,
        gateway,
        signal: options.signal,
      });
      // The caller's headers go only to the origin that it named.
      const headers: Record<string, string> =
        target.url.origin === originOf(start) ? { ...options.headers } : {};
      const { maxBytes, signal, mediaTypes } = options;
      const isWanted = (type: string): boolean => mediaTypes?.includes(type) ?? true;
      const ca = deps.ca === undefined ? {} : { ca: deps.ca };
      const answer = await requestHop({ ...target, headers, maxBytes, signal, ...ca }, isWanted);
      if (answer.body !== null) {
        const { body, mediaType } = answer;
        return { ok: true, bytes: body, mediaType, finalUrl: target.url.href };
      }
      if (answer.status === 200) throw new FetchFailed('wrong_media_type');
      if (!REDIRECTS.has(answer.status) || answer.location === null) throw new FetchFailed('refused');
      next = answer.location;
    }
    throw new FetchFailed('too_many_redirects');
  };

  /** The answer of the first gateway that has the file, or the last gateway's problem. */
  const fetchIpfs = async (path: IpfsPath, options: FetchOptions): Promise<FetchedDocument> => {
    let last: FetchedDocument = { ok: false, problem: 'unreachable' };
    for (const base of settings.ipfsGateways) {
      const gateway = new URL(`${base.replace(/(?<!\/)\/+$/, '')}/ipfs/`);
      last = await fetchUrl(new URL(path, gateway).href, options, gateway);
      if (last.ok) return last;
    }
    return last;
  };

  return {
    async fetch(raw, options) {
      options.signal.throwIfAborted();
      const uri = raw.trim();
      if (uri === '') return { ok: false, problem: 'empty_uri' };
      if (/^data:/i.test(uri)) return fetchData(uri, options);
      if (uri.length > URL_MAX_CHARS) return { ok: false, problem: 'malformed_uri' };
      if (!isIpfsUri(uri)) return fetchUrl(uri, options, null);
      const path = readIpfsUri(uri);
      return path === null ? { ok: false, problem: 'malformed_uri' } : fetchIpfs(path, options);
    },
  };
}

function fetchData(uri: string, { maxBytes, mediaTypes }: FetchOptions): FetchedDocument {
  try {
    const document = readDataUri(uri, maxBytes);
    if (mediaTypes?.includes(document.mediaType) === false) return { ok: false, problem: 'wrong_media_type' };
    return { ok: true, ...document, finalUrl: '' };
  } catch (error) {
    if (error instanceof FetchFailed) return { ok: false, problem: error.problem };
    throw error;
  }
}

function readUrl(text: string, base: string | undefined): URL {
  if (text.length > URL_MAX_CHARS || !URL.canParse(text, base)) throw new FetchFailed('malformed_uri');
  return new URL(text, base);
}

function originOf(text: string): string | null {
  return URL.canParse(text) ? new URL(text).origin : null;
}

/** Maps a remote failure to a problem of the document; an error without a code is our bug and is logged. */
function problemOf(error: unknown, log: Log): FetchProblem {
  if (error instanceof FetchFailed) return error.problem;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large';
  if (code === undefined) log.error({ err: error }, 'unexpected error of a fetch');
  return 'unreachable';
}
