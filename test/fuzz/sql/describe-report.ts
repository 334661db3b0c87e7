import type { Finding, FuzzReport } from './fuzz.ts';

const percent = (part: number, of: number): string => `${of === 0 ? 0 : ((100 * part) / of).toFixed(1)} %`;

/** What a run found, in lines for a person. */
export function describeReport(report: FuzzReport): string {
  const { cases, accepted, answered, seconds, seed, inspectMsMax, finding } = report;
  const totals = [
    `seed ${seed}: ${cases} queries in ${seconds.toFixed(0)} s (${(cases / seconds).toFixed(0)} a second)`,
    `accepted ${percent(accepted, cases)}, of those answered by the engine ${percent(answered, accepted)}; slowest inspection ${inspectMsMax.toFixed(0)} ms`,
  ];
  return [
    ...totals,
    finding === null ? 'nothing that should have been refused' : describeFinding(finding, seed),
  ].join('\n');
}

/** Every verdict and every error of the engine, most frequent first. */
export function describeCodes({ codes }: FuzzReport): string {
  return [...codes]
    .sort(([, a], [, b]) => b - a)
    .map(([code, times]) => `  ${String(times).padStart(8)}  ${code}`)
    .join('\n');
}

function describeFinding({ caseNumber, violation, found, shrunken }: Finding, seed: number): string {
  return [
    `FOUND: ${violation.rule}: ${violation.detail}`,
    `again: npm run fuzz -- sql --seed ${seed} --cases ${caseNumber + 1}`,
    `the query: ${JSON.stringify(found.text)}`,
    `cut down: ${JSON.stringify(shrunken.text)}`,
    ...(Object.keys(shrunken.parameters).length === 0
      ? []
      : [`with: ${JSON.stringify(shrunken.parameters)}`]),
  ].join('\n');
}
