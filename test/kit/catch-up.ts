import { readNaively } from './naive-reader.ts';
import { areSameRows, expectSameRows, readServed } from './served-rows.ts';
import type { TruthWorld } from './truth-world.ts';
import { waitWhileItGetsOn } from './wait-until.ts';

/** What `/v0/telemetry` says of a chain, as far as these tests look. */
interface ChainTelemetry {
  readonly indexed_block: number | null;
  readonly state: string;
  readonly last_error: string | null;
  readonly backfill: { readonly blocks_done: number };
  readonly reorgs: number;
  readonly contradictions: number;
}

interface Telemetry {
  /** Of the service as a whole. */
  readonly status: string;
  readonly chains: readonly ChainTelemetry[];
}

/** Of the service's only chain. */
export async function telemetry(url: string): Promise<ChainTelemetry & Pick<Telemetry, 'status'>> {
  const answer = await fetch(`${url}/v0/telemetry`);
  const { status, chains } = (await answer.json()) as Telemetry; // the part these tests look at
  const [chain] = chains;
  if (!chain) throw new Error('no chain in telemetry');
  return { ...chain, status };
}

/** Waits, while the index gets on, until it says that it is at the chain's tip with nothing left to fill. */
export async function caughtUp(made: TruthWorld, url: string): Promise<void> {
  await waitWhileItGetsOn('the index is at the tip', async () => {
    const head = Number(await made.chain.rpc.call<string>('eth_blockNumber'));
    const chain = await telemetry(url);
    return {
      done: chain.indexed_block === head && chain.state === 'following',
      at: `${standing(chain)}, tip ${head}`,
    };
  });
}

/**
 * Waits, while the index gets on, until the API serves what a naive reader computes from the chain's receipts. That the index
 * is at the tip is not enough: it may not have seen yet that another block took the newest one's place.
 */
export async function expectTruth(made: TruthWorld, url: string): Promise<void> {
  await caughtUp(made, url);
  const truth = await readNaively(made.chain.rpc, made.catalogue);
  if (truth.length === 0) throw new Error('the chain has nothing to compare');
  await waitWhileItGetsOn('the served rows are those of the chain', async () => {
    const served = await readServed(url);
    const at = `${standing(await telemetry(url))}, ${served.length} of ${truth.length} rows`;
    return { done: areSameRows(served, truth), at };
  }).catch(async (standstill: unknown) => {
    expectSameRows(await readServed(url), truth); // says which rows
    throw standstill;
  });
}

function standing({ indexed_block, state, backfill }: ChainTelemetry): string {
  return `${state}, block ${indexed_block}, ${backfill.blocks_done} filled`;
}
