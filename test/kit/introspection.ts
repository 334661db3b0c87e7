import { buffer } from 'node:stream/consumers';
import type { OpenSandbox, SandboxOptions } from '../../sandbox/open.ts';
import type { IntrospectionRequest } from '../../sandbox/sandbox.ts';
import { sandboxOver } from './judge.ts';
import type { SandboxEngine } from './sandbox-engine.ts';

/** A sandbox whose catalogue answers a caller of the organization Acme. */
export interface AskedCatalogue {
  readonly sandbox: OpenSandbox;
  /** The bytes of the answer; null if the text is no introspection. */
  ask(text: string, other?: Partial<IntrospectionRequest>): Promise<Buffer | null>;
  close(): Promise<void>;
}

export function askedCatalogue(engine: SandboxEngine, options: Partial<SandboxOptions> = {}): AskedCatalogue {
  // A file asks hundreds of questions as one caller.
  const sandbox = sandboxOver(engine, { catalogueFreeMs: Number.POSITIVE_INFINITY, ...options });
  return {
    sandbox,
    async ask(text, other = {}) {
      const answer = await sandbox.introspect({
        text,
        parameters: {},
        format: 'TSV',
        database: null,
        callerName: 'org:acme',
        userName: 'Acme',
        signal: new AbortController().signal,
        ...other,
      });
      return answer === null ? null : buffer(answer.body);
    },
    close: () => sandbox.close(),
  };
}
