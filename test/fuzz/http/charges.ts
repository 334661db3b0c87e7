import type { UnitBalance } from '../../../core/domain/plan.ts';
import type { DescribedOperation } from './document.ts';
import type { FuzzRequest } from './requests.ts';
import type { FuzzAnswer } from './send.ts';

/** What may have been taken for a request: nothing that the answer does not say. */

type Balances = Readonly<Record<string, UnitBalance>>;

export interface Charged {
  readonly operation: DescribedOperation;
  readonly request: FuzzRequest;
  readonly answer: FuzzAnswer;
  readonly before: Balances;
  readonly after: Balances;
}

export function chargeComplaints(charged: Charged): string[] {
  const { before, after } = charged;
  return Object.keys(after).flatMap((who) => {
    const [was, is] = [before[who], after[who]];
    if (was === undefined || is === undefined) return [`${who} has no balance`];
    const spent = is.spent - was.spent;
    const allowed = mayCost(charged, who);
    return [
      ...(is.granted === is.balance + is.held + is.spent ? [] : [`the books of ${who} do not add up`]),
      ...(is.held === was.held ? [] : [`${is.held - was.held} units of ${who} are still held`]),
      ...(allowed.includes(spent)
        ? []
        : [`${spent} units were taken of ${who}, not ${allowed.join(' or ')}`]),
    ];
  });
}

/** The units that may have been taken: none for what failed, unless the answer says that it cost something. */
function mayCost({ operation, request, answer }: Charged, who: string): readonly number[] {
  const isTheirs = request.credential === who || request.credential === `${who}_bearer`;
  const isCall = request.method === operation.method; // HEAD and OPTIONS draw nothing
  if (!isTheirs || !isCall || operation.priceClass !== 'metered') return [0];
  const said = unitsSaid(answer);
  if (answer.status >= 400) return [said ?? 0];
  if (answer.status === 202) return upTo(unitsHeld(answer));
  // A kept answer tells what the first one cost.
  if (answer.headers['idempotent-replayed'] === 'true') return [0];
  if (said !== null) return [said];
  const isEstimate = operation.body !== null;
  return [isEstimate ? 0 : 1];
}

/** A job is charged when it ends: any units that were held for it. */
function upTo(held: number): number[] {
  return Array.from({ length: held + 1 }, (_, units) => units);
}

function unitsHeld({ body }: FuzzAnswer): number {
  const { usage } = JSON.parse(body.toString('utf8')) as {
    readonly usage: { readonly units_held: number };
  }; // judged before
  return usage.units_held;
}

function unitsSaid({ headers, body }: FuzzAnswer): number | null {
  const header = headers['x-units-charged'];
  if (header !== undefined) return Number(header);
  if (!/json/.test(headers['content-type'] ?? '')) return null;
  const { usage } = JSON.parse(body.toString('utf8')) as {
    readonly usage?: { readonly units_charged: number };
  }; // judged before
  return usage?.units_charged ?? null;
}
