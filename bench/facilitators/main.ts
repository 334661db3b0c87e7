import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { FACILITATOR_RELAYERS, RELAYER_FUNDERS } from '../../clickhouse/tables/catalogues.ts';
import { SETTLEMENTS, type Settlement } from '../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import { addressKey } from '../../core/domain/chains.ts';
import { readProposals } from '../../ingest/proposals/decisions.ts';
import { proposalPass } from '../../ingest/proposals/pass.ts';
import { type BenchEngine, emptyTables, run, startBenchEngine } from '../lab/engine.ts';
import { type Figure, judged, median, shown, timed } from '../lab/measure.ts';
import { type BenchContext, runBench } from '../lab/run.ts';
import { makeWorld, type World } from './world.ts';

/** How well the pass that proposes relayers finds hidden ones of the built-in table. bench/README.md says what each figure means. */

const HIDDEN = 30;
const RECALL = 0.8;
const PRECISION_MIN = 0.95;
/** 2026-11-20T12:00:00Z: worlds of the same seed are the same. */
const NOW = 1_795_176_000;
const ROWS_PER_INSERT = 50_000;
/** The constants of the score were chosen while looking at the worlds of seeds 1 to 6. */
const FIRST_SEED = 11;
/** A value of `catalogue.acceptProposalsAbove` to look at. */
const ACCEPTED_ABOVE = 0.8;

await runBench({
  name: 'facilitators',
  description: 'Hidden relayers of the built-in table among decoys, found by their behaviour.',
  parts: [
    { name: 'hidden', summary: 'precision where four of five hidden relayers are found', run: findHidden },
  ],
});

interface Finding {
  readonly precision: number;
  readonly recallListed: number;
  readonly precisionAccepted: number;
  readonly recallAccepted: number;
  readonly ms: number;
  /** Kinds of the decoys that were listed, once for each. */
  readonly fooled: readonly string[];
}

async function findHidden(context: BenchContext): Promise<readonly Figure[]> {
  const engine = await startBenchEngine(context.workspace, 'facilitators');
  const seeds = context.sized({ full: 5, quick: 3 });
  const sizes = context.sized({
    full: { decoys: 60, paymentsMax: 2_000 },
    quick: { decoys: 40, paymentsMax: 800 },
  });
  const findings: Finding[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const world = makeWorld({ seed, hidden: HIDDEN, now: NOW, ...sizes });
    const finding = await findIn(engine, world);
    const { precision, recallListed, precisionAccepted, recallAccepted } = finding;
    context.say(
      `seed ${seed}: ${world.rows.length} payments; precision ${precision.toFixed(3)} at recall ${RECALL}; listed: recall ${recallListed.toFixed(3)}; above ${ACCEPTED_ABOVE}: precision ${precisionAccepted.toFixed(3)}, recall ${recallAccepted.toFixed(3)}; decoys listed: ${finding.fooled.join(', ') || 'none'}`,
    );
    findings.push(finding);
  }
  const worst = (of: (finding: Finding) => number): number => Math.min(...findings.map(of));
  const middle = (of: (finding: Finding) => number): number => median(findings.map(of));
  return [
    judged(
      'precision-at-recall-0.8',
      worst(({ precision }) => precision),
      'share',
      '>=',
      PRECISION_MIN,
    ),
    shown(
      'precision-at-recall-0.8-median',
      middle(({ precision }) => precision),
      'share',
    ),
    shown(
      'recall-of-the-list',
      worst(({ recallListed }) => recallListed),
      'share',
    ),
    shown(
      'precision-above-0.8',
      worst(({ precisionAccepted }) => precisionAccepted),
      'share',
    ),
    shown(
      'recall-above-0.8',
      worst(({ recallAccepted }) => recallAccepted),
      'share',
    ),
    shown(
      'pass',
      middle(({ ms }) => ms),
      'ms',
    ),
  ];
}

async function findIn(engine: BenchEngine, world: World): Promise<Finding> {
  const { writer } = engine;
  await emptyTables(engine);
  for (const table of ['facilitator_relayers', 'relayer_funders', 'proposed_relayers', 'proposal_passes'])
    await run(engine, sql`TRUNCATE TABLE ${trustedText(table)} SYNC`);
  const named = world.named.map(({ chain, address, facilitator }) => ({
    ...{ chain, address, facilitator, facilitatorName: facilitator },
    ...{ firstSeen: '2025-01-01', source: 'built-in' as const },
  }));
  const table = FACILITATOR_RELAYERS;
  await insertRows(writer, { name: 'bench-named', table, rows: named, fixed: { ver: 1n, del: 0 } });
  for (let at = 0; at < world.rows.length; at += ROWS_PER_INSERT)
    await insertPayments(engine, world.rows.slice(at, at + ROWS_PER_INSERT));
  const chains = [...new Set(world.rows.map(({ chain }) => chain))];
  const pass = (second: number) =>
    proposalPass({ writer, chains, clock: { nowMs: () => (NOW + second) * 1_000 } });
  await pass(0);
  // Who funded a relayer is read of named and proposed ones alone.
  const looked = new Set([...world.named, ...(await readProposals(writer))].map(addressKey));
  const rows = world.funders.filter((one) => looked.has(addressKey(one)));
  await insertRows(writer, { name: 'bench-funders', table: RELAYER_FUNDERS, rows, fixed: { ver: 1n } });
  const { ms } = await timed(() => pass(60));
  const hidden = new Set(world.hidden.map(addressKey));
  const proposals = await readProposals(writer);
  const isRight = proposals.map((proposal) => hidden.has(addressKey(proposal)));
  const above = proposals.filter(({ score }) => score > ACCEPTED_ABOVE).length;
  return {
    precision: precisionAt(isRight, Math.ceil(RECALL * hidden.size)),
    recallListed: rightIn(isRight) / hidden.size,
    precisionAccepted: above === 0 ? 1 : rightIn(isRight.slice(0, above)) / above,
    recallAccepted: rightIn(isRight.slice(0, above)) / hidden.size,
    ms,
    fooled: proposals.flatMap(({ address }) => world.decoys.get(address) ?? []),
  };
}

/** Of the shortest beginning of the list that has so many right ones; 0 where the list has fewer. */
function precisionAt(isRight: readonly boolean[], wanted: number): number {
  const length = isRight.findIndex((_, at) => rightIn(isRight.slice(0, at + 1)) === wanted) + 1;
  return length === 0 ? 0 : wanted / length;
}

function rightIn(isRight: readonly boolean[]): number {
  return isRight.filter(Boolean).length;
}

function insertPayments({ writer }: BenchEngine, rows: readonly Settlement[]): Promise<void> {
  return insertRows(writer, { name: 'bench-payments', table: SETTLEMENTS, rows, fixed: { ver: 1n, del: 0 } });
}
