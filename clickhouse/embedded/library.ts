import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The platforms with a prebuilt chdb library; musl and Windows have none. */
const LIBRARY_PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@chdb/lib-darwin-arm64',
  'darwin-x64': '@chdb/lib-darwin-x64',
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
};

/** The embedded engine cannot run here; the message says what to do instead. */
export class EngineUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'EngineUnavailable';
  }
}

const INSTEAD = 'Set CLICKHOUSE_URL to use a ClickHouse server instead.';

/** Absolute path of libchdb.so. Throws `EngineUnavailable` where chdb has no build or was not installed. */
export function findEngineLibrary(platform = `${process.platform}-${process.arch}`): string {
  const name = LIBRARY_PACKAGES[platform];
  if (name === undefined) {
    throw new EngineUnavailable(`The embedded engine has no build for ${platform}. ${INSTEAD}`);
  }
  const here = createRequire(import.meta.url);
  try {
    here.resolve('ffi-rs');
    const chdb = here.resolve('chdb/package.json');
    const library = join(dirname(createRequire(chdb).resolve(`${name}/package.json`)), 'libchdb.so');
    if (existsSync(library)) return library;
  } catch (cause) {
    throw new EngineUnavailable(missing(name), cause);
  }
  throw new EngineUnavailable(missing(name));
}

function missing(name: string): string {
  return `The embedded engine is not installed (optional packages chdb, ${name}, ffi-rs). Install without --omit=optional. ${INSTEAD}`;
}
