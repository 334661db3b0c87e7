import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineAccess, Writer } from '../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { Signature } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { type Made, makeBundles } from '../../src/bundles/make.ts';
import { type Manifest, parseManifest } from '../../src/bundles/manifest.ts';
import { directoryStore } from '../../src/bundles/store.ts';
import { BUNDLE_TABLE_NAMES } from '../../src/bundles/tables.ts';
import { readChainStatus } from '../../src/operations/index-state/chain-status.ts';
import { BASE, hash, insertSettlements, NOON, reportChain, SOLANA, settlement, wallet } from './rows.ts';
import { account, signatureOf, USDC } from './solana-json.ts';

/** Bundles of a small world: four days of Base, the third of them empty, the last one not final. */

export const DAY_SECONDS = 86_400;
export const DAYS = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const ROWS_A_DAY = 60;

export interface BundleWorld {
  readonly config: Config;
  readonly directory: string;
  readonly said: string[];
  make(): Promise<Made>;
  /** Of a table of Base. */
  manifest(table: string): Manifest;
  pathOf(table: string, file: string): string;
  remove(): void;
}

/** The directory and the configuration; `access` is the engine. */
export function bundleWorld(
  access: EngineAccess,
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-bundles-')),
): BundleWorld {
  const file = join(directory, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({ dataDir: directory, chains: ['base', 'polygon', 'solana'].map((chain) => ({ chain })) }),
  );
  const config = loadConfig({ file, env: {} });
  const said: string[] = [];
  const pathOf = (table: string, name: string): string =>
    join(directory, 'bundles', BASE.replace(':', '-'), table, name);
  return {
    config,
    directory,
    said,
    pathOf,
    make: () =>
      makeBundles(
        {
          config,
          access,
          store: directoryStore(config.bundles.dir),
          readProgress: readChainStatus,
          signal: new AbortController().signal,
          say: (line) => said.push(line),
          progress: () => ({ add: () => undefined }),
        },
        { chains: config.chains.map(({ chain }) => chain), tables: BUNDLE_TABLE_NAMES },
      ),
    manifest: (table) => {
      const manifest = parseManifest(readFileSync(pathOf(table, 'manifest.json'), 'utf8'));
      if (manifest === null) throw new Error(`no manifest of ${table}`);
      return manifest;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Settlements with values that formats lose: large amounts, six decimals, names and lists, payers that pay themselves. */
export function worldRows(): Settlement[] {
  return DAYS.flatMap((day, nth) =>
    nth === 2 ? [] : Array.from({ length: ROWS_A_DAY }, (_, at) => worldRow(day, nth, at)),
  );
}

const HUGE = 10n ** 30n + 7n;

function worldRow(day: string, nth: number, at: number): Settlement {
  const cents = BigInt(at) * 1_001n;
  return settlement({
    blockTime: Date.parse(day) / 1_000 + at * 1_000,
    blockNumber: (nth + 1) * 100 + Math.floor(at / 2),
    logIndex: at % 2,
    txHash: hash(nth * 1_000 + at + 1),
    payer: wallet(at % 7),
    payee: wallet(at % 5),
    amount: at === 3 ? HUGE : cents,
    amountUsdMicros: at === 3 ? 999_999_999_999_999_999n : cents,
    facilitator: ['coinbase', '', ''][at % 3] ?? '',
    builderApps: ['app-a,app-b', '', '', ''][at % 4] ?? '',
    method: at % 6 === 0 ? 'not_examined' : 'gasless_authorization',
  });
}

/** The same days of Solana. Final as `fillWorld` reports Base. */
export async function fillSolana(writer: Writer): Promise<void> {
  const rows = worldRows().map((row, at) => ({
    ...{ ...row, chain: SOLANA, txHash: signatureOf(`bundled ${at}`) as Signature }, // of 64 bytes
    ...{
      payer: account(`payer ${at % 7}`),
      payee: account(`payee ${at % 5}`),
      relayer: account('fee payer'),
    },
    ...{ asset: USDC.address, memo: at % 3 === 0 ? `a "note", ${at}\nÜ` : '' },
  }));
  await insertSettlements(writer, rows);
  await reportFinal(writer, SOLANA);
}

/** Reports Base as final up to noon of the last day: the three days before are final. */
export async function fillWorld(writer: Writer): Promise<Settlement[]> {
  const rows = worldRows();
  await insertSettlements(writer, rows);
  await reportFinal(writer, BASE);
  return rows;
}

function reportFinal(writer: Writer, chain: Chain): Promise<void> {
  return reportChain(writer, chain, {
    finalized_block: '420',
    indexed_block: '440',
    indexed_time: `toDateTime(${NOON + DAY_SECONDS / 4}, 'UTC')`,
    head_block: '440',
  });
}
