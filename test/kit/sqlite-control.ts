import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { OpenedStore } from '../src/accounts/control-store.ts';

/**
 * SQLite stores for many tests, one test at a time. A handle starts a thread, from source about a second on a busy machine, so
 * one file is emptied between tests and handles that no test closed serve the next; their rates are not forgotten.
 */
export interface SqliteBed {
  open(): Promise<OpenedStore>;
  end(): Promise<void>;
}

export function createSqliteBed(): SqliteBed {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-control-'));
  const path = join(directory, 'control.db');
  const idle: ControlStore[] = [];
  const takeHandle = async (): Promise<ControlStore> => {
    for (const handle of idle.splice(0, 1)) {
      if (await isOpen(handle)) return handle;
      return takeHandle();
    }
    const handle = openSqliteStore({ path });
    // The file is there once the first write was.
    await handle.ping();
    return handle;
  };
  return {
    open: async () => {
      const store = await takeHandle();
      emptyTables(path);
      const used = [store];
      return {
        store,
        reopen: async () => {
          const handle = await takeHandle();
          used.push(handle);
          return handle;
        },
        close: async () => {
          idle.push(...used);
        },
      };
    },
    end: async () => {
      for (const handle of idle) await handle.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function isOpen(store: ControlStore): Promise<boolean> {
  return store.ping().then(
    () => true,
    () => false,
  );
}

function emptyTables(path: string): void {
  const db = new Database(path);
  try {
    db.exec('PRAGMA busy_timeout = 5000');
    db.exec('PRAGMA foreign_keys = OFF');
    const tables = db
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .all() as { readonly name: string }[];
    db.exec(['BEGIN', ...tables.map(({ name }) => `DELETE FROM ${name}`), 'COMMIT'].join(';'));
  } finally {
    db.close();
  }
}
