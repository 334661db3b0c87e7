import type { Figure } from './figure.ts';
import type { Cost } from './measured-api.ts';
import { median, quantile } from './quantiles.ts';

/** What requests of one kind cost: latency at the client, of it the API's and the engine's part (all shown), and the rows read (judged). */
export function costFigures(
  name: string,
  costs: readonly Cost[],
  rowsReadBelow: number | undefined,
): Figure[] {
  const total = costs.map(({ totalMs }) => totalMs);
  const engine = costs.map(({ engineMs }) => engineMs);
  const rowsRead = Math.max(...costs.map((cost) => cost.rowsRead));
  return [
    { name: `${name}-p50`, value: median(total), unit: 'ms', goal: '-', ok: true },
    { name: `${name}-p99`, value: quantile(total, 0.99), unit: 'ms', goal: '-', ok: true },
    {
      name: `${name}-api-p50`,
      value: median(costs.map(({ apiMs }) => apiMs)),
      unit: 'ms',
      goal: '-',
      ok: true,
    },
    { name: `${name}-engine-p50`, value: median(engine), unit: 'ms', goal: '-', ok: true },
    {
      name: `${name}-rows-read-max`,
      value: rowsRead,
      unit: 'rows',
      goal: rowsReadBelow === undefined ? '-' : `<${rowsReadBelow}`,
      ok: rowsReadBelow === undefined || rowsRead < rowsReadBelow,
    },
  ];
}

/**
 * Asks `requests` in turn, so that all of them see the same machine, and answers the costs of each. The first `warmUp` rounds
 * are not counted.
 */
export async function costsOfRounds(
  requests: readonly ((round: number) => Promise<Cost>)[],
  rounds: { readonly counted: number; readonly warmUp: number },
): Promise<Cost[][]> {
  const costs: Cost[][] = requests.map(() => []);
  for (let round = 0; round < rounds.warmUp + rounds.counted; round++) {
    for (const [index, request] of requests.entries()) {
      const cost = await request(round);
      if (round >= rounds.warmUp) costs[index]?.push(cost);
    }
  }
  return costs;
}
