import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { startCluster } from '../../kit/cluster.ts';
import { testLog } from '../../kit/engine.ts';
import { drawnCatalogue, drawnRow, regradeHistory } from '../../kit/regrade-history.ts';
import { regradeWorld } from '../../kit/regrade-world.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';

const ROWS = 40;
const SEED = 29;

test('rows on two shards follow the catalogue, with their wallet log and all other columns as they were', async () => {
  const cluster = await startCluster({ shards: 2, database: 'index_of_regrade', log: testLog });
  for (const secret of cluster.secrets) watchSecret(secret);
  const [writer, reader] = [createWriter(cluster.access, testLog), createReader(cluster.access, testLog)];
  try {
    await migrate(cluster.access, testLog);
    const history = regradeHistory(regradeWorld({ writer, reader }));
    const catalogues = fc.sample(drawnCatalogue, { numRuns: 3, seed: SEED });
    await history.write(fc.sample(drawnRow, { numRuns: ROWS, seed: SEED }));
    for (const wanted of catalogues) {
      await history.change(wanted);
      await history.write(fc.sample(drawnRow, { numRuns: ROWS / 10, seed: SEED }));
      expect(await history.held()).toEqual(await history.expected());
    }
  } finally {
    await Promise.all([writer.close(), reader.close()]);
    await cluster.close();
  }
}, 300_000);
