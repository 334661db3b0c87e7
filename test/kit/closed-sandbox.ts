import type { SqlSandbox } from '../../sandbox/sandbox.ts';

/** For an API that gets no SQL. */
const refuse = (): Promise<never> => Promise.reject(new Error('this API has no sandbox'));

export const CLOSED_SANDBOX: SqlSandbox = {
  openTo: () => 'everyone',
  openNow: () => 'everyone',
  inspect: refuse,
  placeholders: refuse,
  suggest: () => Promise.resolve(null),
  run: refuse,
  progress: refuse,
  cancel: refuse,
  estimate: refuse,
  readUpload: refuse,
  introspect: () => Promise.resolve(null),
};
