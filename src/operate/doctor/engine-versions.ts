/**
 * Builds in which a nested `SETTINGS readonly = 0` lifts the read-only mode of a query (ClickHouse issue 116028), by the release
 * line in which it was mended. Source: sandbox.md B, docs/operators.md.
 */
const MENDED_IN: Readonly<Record<string, readonly [patch: number, build: number]>> = {
  '26.3': [27, 4],
  '26.6': [4, 51],
  '26.7': [6, 49],
  '26.8': [2, 2],
};
/** Lines from here on were cut after it was mended. */
const NEWEST_LINE = [26, 8] as const;

export const MENDED_VERSIONS = Object.entries(MENDED_IN)
  .map(([line, [patch, build]]) => `${line}.${patch}.${build}`)
  .join(', ');

/** Whether a version has the fault; null for a text that is no version. */
export function liftsReadonly(version: string): boolean | null {
  const parts = /^(\d+)\.(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  if (parts === null) return null;
  const [major = 0, minor = 0, patch = 0, build = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  const mended = MENDED_IN[`${major}.${minor}`];
  if (mended !== undefined) return patch < mended[0] || (patch === mended[0] && build < mended[1]);
  const [newestMajor, newestMinor] = NEWEST_LINE;
  return major < newestMajor || (major === newestMajor && minor < newestMinor);
}
