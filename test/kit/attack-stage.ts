import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import type { AttackStage } from './attack-cases.ts';
import { BASE, insertSettlements, nameFacilitator, reportChain, settlement, tombstone } from './rows.ts';

const SECRETS = {
  row: 'canary-in-a-row',
  hidden: 'canary-in-a-hidden-row',
  file: 'canary-in-a-file',
} as const;

/** Secrets where only a hole leads: a row of another database, a row that a view hides, a file of the host. */
export interface PlantedSecrets extends AttackStage {
  /** The secret that a text gives away. */
  secretIn(text: string): string | undefined;
  /** Whether an attack wrote the file that must never come to be. */
  isWritten(): boolean;
  uproot(): Promise<void>;
}

/** Adds secrets to an index with one settlement and one facilitator that everyone may read. */
export async function plantSecrets(writer: Writer, database = 'index_of_test'): Promise<PlantedSecrets> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-attacks-'));
  const stage = {
    secretFile: join(directory, 'secret.txt'),
    outFile: join(directory, 'written-by-an-attack'),
    database,
  };
  writeFileSync(stage.secretFile, SECRETS.file);
  const run = (text: string) => writer.run({ name: 'plant', sql: trustedText(text), maxSeconds: 20 });
  await run('CREATE DATABASE vault');
  await run('CREATE TABLE vault.secrets (s String) ENGINE = MergeTree ORDER BY s');
  await run(`INSERT INTO vault.secrets VALUES ('${SECRETS.row}')`);
  await reportChain(writer, BASE, { finalized_block: '1000' });
  const hidden = settlement({ blockNumber: 5, facilitator: SECRETS.hidden });
  await insertSettlements(writer, [settlement({ blockNumber: 1 }), hidden]);
  await tombstone(writer, [hidden]);
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  return {
    ...stage,
    secretIn: (text) => Object.values(SECRETS).find((secret) => text.includes(secret)),
    isWritten: () => existsSync(stage.outFile),
    async uproot() {
      await run('DROP DATABASE vault SYNC');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
