import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';

/**
 * Loads a Parquet file as the table `settlements` of a DuckDB file and answers questions over it, one line of JSON each:
 * `{ sql }` in, `{ ms, rows }` or `{ error }` out.
 */

const [parquet, file, threads] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file, { threads });
const connection = await instance.connect();
await connection.run(`CREATE TABLE settlements AS SELECT * FROM read_parquet('${parquet}')`);
await connection.run('CHECKPOINT');
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);

async function answer(sql) {
  try {
    const began = performance.now();
    const reader = await connection.runAndReadAll(sql);
    return { ms: performance.now() - began, rows: reader.currentRowCount };
  } catch (error) {
    return { error: String(error).slice(0, 300) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { sql } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await answer(sql))}\n`);
}
