import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readAccessFile } from '../../../../clickhouse/embedded/directory.ts';
import { createReader, createWriter } from '../../../../clickhouse/engine/http-engine.ts';
import { unfinishedPasses } from '../../../../ingest/grading/regrade/passes.ts';
import { openSqliteStore } from '../../../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../../../src/accounts/store.ts';
import { backUp } from '../../../../src/operate/backup/backup.ts';
import { restore } from '../../../../src/operate/backup/restore.ts';
import { readCoverage } from '../../../../src/operations/index-state/rollups.ts';
import { createOrganization } from '../../../kit/access.ts';
import { testBackup } from '../../../kit/backup.ts';
import { expectTruth } from '../../../kit/catch-up.ts';
import { readIndex } from '../../../kit/index-totals.ts';
import { startTestService, type TestService } from '../../../kit/service.ts';
import { startTruthWorld, type TruthWorld } from '../../../kit/truth-world.ts';
import { expectBooks } from '../../../kit/unit-books.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `settlement-index-${name}-`));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function serviceOf(world: TruthWorld, dataDir: string): Promise<TestService> {
  return startTestService({
    dataDir,
    chains: [world.serviceChain(world.chain.url)],
    catalogue: world.serviceCatalogue(),
  });
}

/** What every table says, rollups and all. */
async function readEverything(dataDir: string) {
  const access = readAccessFile(join(dataDir, 'clickhouse'));
  if (access === null) throw new Error('the service has no engine');
  const reader = createReader({ ...access, database: 'settlement_index' });
  try {
    return await readIndex(reader, await readCoverage(reader));
  } finally {
    await reader.close();
  }
}

async function passesUnderWay(dataDir: string): Promise<readonly number[]> {
  const access = readAccessFile(join(dataDir, 'clickhouse'));
  if (access === null) throw new Error('the service has no engine');
  const writer = createWriter({ ...access, database: 'settlement_index' });
  try {
    return await unfinishedPasses(writer);
  } finally {
    await writer.close();
  }
}

/** Takes and resolves units until it is stopped; answers how often. */
function spendOn(store: ControlStore, organizationId: string): () => Promise<number> {
  let goesOn = true;
  const done = (async () => {
    let count = 0;
    for (; goesOn; count++) {
      const hold = { organizationId, holdId: `hold-${count}`, units: 3, operation: 'list-flows' };
      await store.units.hold({ ...hold, heldAtMs: Date.now(), overdueAtMs: Date.now() + 120_000 });
      await store.units.capture({ ...hold, units: 2, atMs: Date.now() });
    }
    return count;
  })();
  return () => {
    goesOn = false;
    return done;
  };
}

test('copied while the chain is reorganised and units are spent, the index comes back true and goes on, and the books agree', async () => {
  const world = await startTruthWorld(77);
  cleanups.push(() => world.stop());
  await world.grow(16);
  const first = newDirectory('first');
  const service = await serviceOf(world, first);
  cleanups.push(() => service.stop());
  const page = async (
    url: string,
    query: string,
  ): Promise<{ flows: unknown[]; next_before: string | null }> => {
    const answer = await fetch(`${url}/v0/flows?limit=5${query}`);
    expect(answer.status).toBe(200);
    return (await answer.json()) as { flows: unknown[]; next_before: string | null }; // the part that is looked at
  };
  await waitUntil(
    'there is a page behind the first',
    async () => (await page(service.url, '')).next_before !== null,
  );
  const { next_before: cursor } = await page(service.url, '');
  const store = openSqliteStore({ path: join(first, 'control.db') });
  cleanups.push(() => store.close());
  const organization = await createOrganization(store, { units: 1_000_000 });
  const stopSpending = spendOn(store, organization);
  await waitUntil('units are spent', async () => ((await store.units.balance(organization))?.spent ?? 0) > 0);
  // The first start follows its catalogue, and a backup during that is refused.
  await waitUntil('the rows follow the catalogue', async () => (await passesUnderWay(first)).length === 0);

  const growing = world.grow(6).then(async () => {
    await world.reorganise(4);
    await world.grow(4);
  });
  const whole = newDirectory('whole');
  const added = newDirectory('added');
  const { deps } = testBackup(join(first, 'config.json'));
  await backUp(deps, whole, {});
  const { engine, files } = await backUp(deps, added, { base: whole });
  expect(engine?.base).not.toBeNull();
  await growing;
  expect(await stopSpending()).toBeGreaterThan(1);
  await expectTruth(world, service.url);
  const here = await readEverything(first);
  await service.stop();

  const second = newDirectory('second');
  writeFileSync(join(second, 'config.json'), JSON.stringify({ dataDir: second }));
  await restore(testBackup(join(second, 'config.json')).deps, added, {});
  expect(files.map(({ path }) => path)).toContain('secrets/cursor.key');
  const copied = openSqliteStore({ path: join(second, 'control.db') });
  cleanups.push(() => copied.close());
  const books = await expectBooks(copied, organization);
  expect(books.spent).toBeGreaterThan(0);

  const again = await serviceOf(world, second);
  cleanups.push(() => again.stop());
  await expectTruth(world, again.url);
  expect(await readEverything(second)).toEqual(here);
  // The page behind a cursor of the first service: signed with the key that was copied.
  expect((await page(again.url, `&before=${cursor}`)).flows).toHaveLength(5);
});
