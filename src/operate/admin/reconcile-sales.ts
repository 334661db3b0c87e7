import { knownChain } from '../../../core/domain/networks.ts';
import { SALE_PREFIX } from '../../../core/domain/sale.ts';
import type { AuthorizationId, PaymentRecord } from '../../accounts/payment-store.ts';
import type { ControlStore } from '../../accounts/store.ts';
import type { LedgerEntry } from '../../accounts/unit-store.ts';
import { SQL_QU_USD_MICROS } from '../../operations/prices.ts';
import { allOrganizations } from './organization.ts';

/**
 * Shares of authors against what paid for them: all shares of one payment or hold together leave the run at least one unit of what
 * settled or was captured. It does not rely on what the claim of a payment says alone: the amount that settled bounds it too.
 */

const PAGE = 1_000;
/** The least that a run takes. */
const RUN_UNITS_MIN = 1;

/** A grant of a share, of the organization that got it. */
export interface SaleGrant extends Pick<LedgerEntry, 'sequence' | 'subject' | 'units'> {
  readonly organization: string;
}

export interface SaleDifference {
  readonly organization: string;
  readonly sequence: number;
  readonly what: string;
}

type Store = Pick<ControlStore, 'accounts' | 'payments'> & {
  readonly units: Pick<ControlStore['units'], 'ledger'>;
};

export async function saleDifferences(store: Store, grants: readonly SaleGrant[]): Promise<SaleDifference[]> {
  const holds = new Map<string, number>();
  for (const { subject } of grants) if (paymentIn(subject) === null) holds.set(subject, 0);
  if (holds.size > 0) await addCaptures(store, holds);
  const together = new Map<string, number>();
  const differences: SaleDifference[] = [];
  for (const grant of grants) {
    const { organization, sequence, subject, units } = grant;
    const sum = (together.get(subject) ?? 0) + units;
    together.set(subject, sum);
    const payment = paymentIn(subject);
    const what =
      payment === null
        ? overPaid(sum, RUN_UNITS_MIN, holds.get(subject) ?? 0, 'captured')
        : paymentProblem(grant, sum, await store.payments.find(payment));
    if (what !== null) differences.push({ organization, sequence, what: `the share ${subject}: ${what}` });
  }
  return differences;
}

function overPaid(units: number, runUnits: number, paidUnits: number, how: string): string | null {
  if (units + runUnits <= paidUnits) return null;
  return `${units} units beside ${runUnits} of the run, and ${paidUnits} were ${how}`;
}

function paymentProblem(
  { organization }: SaleGrant,
  units: number,
  record: PaymentRecord | null,
): string | null {
  if (record === null) return 'there is no such payment';
  const { state, sale } = record;
  if (state === 'settling') return 'its payment did not settle';
  const author = sale?.share?.organizationId ?? organization;
  if (author !== organization) return `its payment names ${author} as the author`;
  const paid = Math.min(sale?.units ?? Number.POSITIVE_INFINITY, unitsOfAmount(record));
  return overPaid(units, sale?.share?.runUnits ?? RUN_UNITS_MIN, paid, 'paid for');
}

/** The units that its amount buys; no bound for a token that is not built in. */
function unitsOfAmount({ id: { chain, asset }, amount }: PaymentRecord): number {
  const token = knownChain(chain)?.tokens.find(({ address }) => address === asset);
  if (token === undefined) return Number.POSITIVE_INFINITY;
  const usdMicros = (BigInt(amount) * 1_000_000n) / 10n ** BigInt(token.decimals);
  return Number(usdMicros / SQL_QU_USD_MICROS);
}

/** The parts of `saleOfPayment`; null for the name of a hold. The nonce of a Permit2 payment has a colon, too. */
function paymentIn(subject: string): AuthorizationId | null {
  const parts = /^([a-z0-9-]+:[^:]+):([^:]+):([^:]+):(.+)$/.exec(subject.slice(SALE_PREFIX.length));
  const [, chain, asset, payer, nonce] = parts ?? [];
  if (chain === undefined || asset === undefined || payer === undefined || nonce === undefined) return null;
  return { chain, asset, payer, nonce };
}

/** What was captured of each hold that a share names, of whatever organization it was. */
async function addCaptures({ accounts, units }: Store, holds: Map<string, number>): Promise<void> {
  for (const { id: organizationId } of await allOrganizations(accounts)) {
    for (let after = 0; ; ) {
      const rows = await units.ledger({ organizationId, after, limit: PAGE });
      for (const row of rows) {
        const name = SALE_PREFIX + row.subject;
        const before = holds.get(name);
        if (row.kind === 'capture' && before !== undefined) holds.set(name, before + row.units);
      }
      after = rows.at(-1)?.sequence ?? after;
      if (rows.length < PAGE) break;
    }
  }
}
