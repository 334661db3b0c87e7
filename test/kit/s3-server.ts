import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { S3Storage } from '../../src/results/s3-files.ts';

/** A real S3 server over a directory, with a bucket of its own for each test. */
export interface S3Server {
  storage(prefix: string): S3Storage;
  close(): Promise<void>;
}

const BUCKET = 'results';

export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), `settlement-index-s3-${randomUUID()}`));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = await server.run();
  return {
    storage: (prefix) => ({
      endpoint: `http://127.0.0.1:${port}`,
      bucket: BUCKET,
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      prefix,
    }),
    close: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
