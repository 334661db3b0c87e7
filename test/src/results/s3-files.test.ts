import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ResultFilesUnavailable } from '../../../src/results/result-files.ts';
import { s3Files } from '../../../src/results/s3-files.ts';
import { startS3Server } from '../../kit/s3-server.ts';
import { resultFilesContract } from './result-files.ts';

resultFilesContract('S3-compatible storage', async () => {
  const server = await startS3Server();
  const storage = server.storage(`${randomUUID()}/`);
  const files = s3Files(storage);
  const later = Date.now() + 3_600_000;
  return {
    files,
    stored: () => files.writtenUntil({ atMs: later, limit: 100 }),
    close: () => server.close(),
  };
});

test('a wrong key is a storage that does not answer', async () => {
  const server = await startS3Server();
  const files = s3Files({ ...server.storage(''), accessKeyId: 'wrong' });
  await expect(files.write('a'.repeat(64), Buffer.from('x'))).rejects.toThrow(ResultFilesUnavailable);
  await expect(files.read('a'.repeat(64))).rejects.toThrow(ResultFilesUnavailable);
  await server.close();
});
