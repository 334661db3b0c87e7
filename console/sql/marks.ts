import type { Mark } from './editor.ts';
import type { EstimateState } from './estimate.ts';
import type { RunState } from './run.ts';

/** Where the text is at fault: by the estimate, which follows the text, or else by the run. */
export function marksOf(estimate: EstimateState, state: RunState, sql: string): readonly Mark[] {
  if (sql.trim() === '') return [];
  if (estimate.phase === 'known' && estimate.sql === sql) {
    const warnings = estimate.estimate.warnings.flatMap(({ position, near, message }) =>
      position === undefined
        ? []
        : [{ severity: 'warning' as const, ...position, near: near ?? '', message }],
    );
    if (warnings.length > 0) return warnings;
  }
  const problem = problemOf(estimate, state, sql);
  if (problem?.position === undefined) return [];
  const { position, near, detail, hint } = problem;
  const message = hint === undefined ? detail : `${detail} ${hint}`;
  return [{ severity: 'error', ...position, near: near ?? '', message }];
}

function problemOf(estimate: EstimateState, state: RunState, sql: string) {
  if (estimate.phase === 'refused') return estimate.problem.body;
  // Of an older text it says nothing about this one.
  return state.phase === 'failed' && state.sql === sql ? state.problem.body : null;
}
