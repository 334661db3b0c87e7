import { type EngineWalls, hasFileWall, spellWalls } from '../../../clickhouse/embedded/walls.ts';
import { EngineError, type Guest } from '../../../clickhouse/engine/engine.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** What stands between callers' SQL and the files of the engine's machine, behind the inspector of their texts. */

const MAX_SECONDS = 5;
/** On every Linux machine, and none of them the engine's: what reads one reads others. */
const FOREIGN_FILES = ['/etc/hostname', '/etc/passwd', '/proc/self/environ'];

const SECTION = 'docs/operators.md, "Walls around the engine"';

/** The walls that a running embedded engine has; undefined where a service of an older version does not say. */
export function judgeWalls(walls: EngineWalls | undefined): Finding {
  if (walls === undefined)
    return skipped('walls', 'the running service does not tell them: it is of an older version');
  const says = spellWalls(walls);
  if (!walls.cleanEnvironment)
    return failure('walls', says, 'Report this: the engine is given an environment of its own.');
  if (!hasFileWall(walls))
    return warning(
      'walls',
      `${says}; so SQL is for organizations only`,
      `Use a kernel with Landlock (Linux 5.19 or newer), or start the service as root: ${SECTION}.`,
    );
  return ok('walls', says);
}

/**
 * Reads files as the guest, past the inspector. `files`: those that must be closed, beside the usual ones. Nothing of what is
 * read is shown.
 */
export async function tryFiles(guest: Guest, files: readonly string[] = FOREIGN_FILES): Promise<Finding> {
  const read: string[] = [];
  for (const file of files) {
    const reading = await readsFile(guest, file);
    if (reading === 'no answer') return skipped('files', 'the engine did not answer the guest');
    if (reading === 'read') read.push(file);
  }
  if (read.length === 0) return ok('files', `the function file() opens none of ${files.join(', ')}`);
  return failure(
    'files',
    `as the guest, the function file() opens ${read.join(', ')}: the inspector of callers’ SQL is the only wall`,
    `Confine it: user_files_path of a server to an empty directory, or what ${SECTION} says of the embedded engine.`,
  );
}

async function readsFile(guest: Guest, file: string): Promise<'read' | 'closed' | 'no answer'> {
  try {
    await guest.explain({
      name: 'doctor-file',
      text: `SELECT length(file('${file.replaceAll(/[\\']/g, '\\$&')}'))`,
      maxSeconds: MAX_SECONDS,
    });
    return 'read';
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.problem === 'engine_refused' ? 'closed' : 'no answer';
  }
}

/** Which files must be closed to an embedded engine: with a user of its own alone, what every user may read stays open. */
export function closedFiles(walls: EngineWalls | undefined, secret: string): readonly string[] {
  if (walls === undefined || 'abi' in walls.landlock) return [secret, ...FOREIGN_FILES];
  return hasFileWall(walls) ? [secret] : [];
}
