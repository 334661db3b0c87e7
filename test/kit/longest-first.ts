import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects from the longest files to the shortest, so that no long one is left over for one worker when the others are done. */
const PROJECTS = ['e2e', 'browser', 'engine', 'redis', 'fast'];
/** What takes longer than a quarter of a minute, the longest first. A file that is missing here runs after these. */
export const LONG_FILES = [
  'ingest/truth.e2e',
  'ingest/lying-node.e2e',
  'src/payments.e2e',
  'demo/demo.e2e',
  'src/service.e2e',
  'packages/packages.e2e',
  'ingest/rollup-truth.e2e',
  'ingest/chaos.e2e',
  'src/operate/backup/backup.e2e',
  'ingest/many-ingest.e2e',
  'clickhouse/cluster/cluster-nodes.engine',
  'ingest/import/import.engine',
  'sandbox/run/sandbox-run.engine',
  'clickhouse/embedded/walls.engine',
  'ingest/chain/block-source.engine',
  'ingest/grading/regrade/faults.engine',
  'ingest/endpoints/follow.engine',
  'sandbox/judge/sandbox-fuzz.engine',
  'clickhouse/embedded/embedded.engine',
  'src/operations/index-state/finality.engine',
  'src/operations/settlements/walk.engine',
  'src/operations/sql/reads-beside-sql.engine',
  'src/accounts/admin.e2e',
  'src/accounts/units-crash',
  'src/accounts/sqlite/sqlite-store',
];

/**
 * Vitest runs the larger files first where it has not seen them run, as in a fresh clone. Size says little about files that
 * start processes and kill them. Each project stays in one piece: its files share what the worker has loaded.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort(
      (one, other) => projectPlace(one) - projectPlace(other) || lengthPlace(one) - lengthPlace(other),
    );
  }
}

/** A project that is missing above comes first. */
function projectPlace({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name);
}

function lengthPlace({ moduleId }: TestSpecification): number {
  const place = LONG_FILES.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? LONG_FILES.length : place;
}
