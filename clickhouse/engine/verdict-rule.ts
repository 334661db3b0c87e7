import {
  type JudgedRole,
  MOSTLY_ROUND_SHARE,
  SAMPLE_MIN_SETTLEMENTS,
  SHARE_SCALE,
  SIGNALS,
  SIGNALS_OF_ROLE,
  type SignalId,
  type SignalKind,
  type Verdict,
} from '../../core/domain/data-quality.ts';
import { commaList, type Sql, sql, text, trustedText } from './sql.ts';

/**
 * `judge` (core/domain/data-quality.ts) as expressions of the engine, made from the same table of signals. They are over the columns
 * `settlements`, `rings` (a number) and the shares below, as whole ten-thousandths, -1 where there is no base.
 */

const COLUMN_OF = {
  self_payment_share: 'self_share',
  payer_concentration: 'concentration',
  payee_concentration: 'concentration',
  single_payer_dominance: 'largest_share',
  single_payee_dominance: 'largest_share',
  reciprocity: 'reciprocal_share',
  ring_membership: 'rings',
} as const satisfies Record<SignalId, string>;

const whole = (number: bigint | number): Sql => trustedText(String(number));
/** The engine divides in all rows, also where the condition does not hold. */
const share = (part: Sql, of: Sql): Sql =>
  sql`if(${of} > 0, toInt16(intDiv(${part} * ${whole(SHARE_SCALE)}, greatest(${of}, toInt256(1)))), toInt16(-1))`;

/**
 * The columns of shares, from whole millionths of dollars in 256 bits: gross, self, and without self-payments largest, squared (the sum
 * of the squares of each counterparty's) and mutual.
 */
export const SHARE_COLUMNS: Sql = sql`${share(sql`self`, sql`gross`)} AS self_share,
  ${share(sql`squared`, sql`((gross - self) * (gross - self))`)} AS concentration,
  ${share(sql`largest`, sql`(gross - self)`)} AS largest_share,
  ${share(sql`mutual`, sql`(gross - self)`)} AS reciprocal_share`;

function reaches(id: SignalId, threshold: bigint): Sql {
  return sql`${trustedText(COLUMN_OF[id])} >= ${whole(threshold)}`;
}

/** The names of the signals of a role that reached their threshold. */
export function triggeredOf(role: JudgedRole): Sql {
  const names = SIGNALS_OF_ROLE[role].map(
    (id) => sql`if(${reaches(id, SIGNALS[id].threshold)}, ${text(id)}, '')`,
  );
  return sql`arrayFilter(name -> name != '', [${commaList(names)}])`;
}

const named = (verdict: Verdict): Sql => sql`${text(verdict)}`;

/** The verdict on a wallet that has settlements in the role. */
export function verdictOf(role: JudgedRole): Sql {
  const ofKind = (kind: SignalKind): Sql =>
    anyOf(
      SIGNALS_OF_ROLE[role]
        .filter((id) => SIGNALS[id].kind === kind)
        .map((id) => reaches(id, SIGNALS[id].threshold)),
    );
  const mostlyRound = anyOf([
    reaches('self_payment_share', MOSTLY_ROUND_SHARE),
    reaches('reciprocity', MOSTLY_ROUND_SHARE),
  ]);
  return sql`multiIf(settlements < ${whole(SAMPLE_MIN_SETTLEMENTS)}, ${named('insufficient')},
    ${mostlyRound} OR (${ofKind('round')} AND ${ofKind('narrow')}), ${named('suspect')},
    ${ofKind('round')} OR ${ofKind('narrow')}, ${named('mixed')}, ${named('clean')})`;
}

function anyOf(conditions: readonly Sql[]): Sql {
  const [first, ...rest] = conditions;
  if (first === undefined) return sql`0`;
  return sql`(${rest.reduce((all, next) => sql`${all} OR ${next}`, first)})`;
}
