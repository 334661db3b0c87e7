import { type Sql, sql, text, trustedText } from '../../clickhouse/engine/sql.ts';
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

/**
 * The verdict of `judge` (core/domain/data-quality.ts) as an expression over the columns settlements, gross, self, mutual, largest, squared
 * and rings: the same rule and thresholds, so that the engine can judge every wallet where it adds up their payments.
 */
export function verdictOf(role: JudgedRole): Sql {
  const triggered = SIGNALS_OF_ROLE[role].map((id) => {
    const { kind, threshold } = SIGNALS[id];
    return { kind, condition: reaches(id, threshold) };
  });
  const ofKind = (kind: SignalKind): Sql =>
    anyOf(triggered.filter((signal) => signal.kind === kind).map(({ condition }) => condition));
  const mostlyRound = anyOf([
    reaches('self_payment_share', MOSTLY_ROUND_SHARE),
    reaches('reciprocity', MOSTLY_ROUND_SHARE),
  ]);
  const is = (verdict: Verdict): Sql => sql`${text(verdict)}`;
  return sql`multiIf(settlements = 0, ${is('unobserved')}, settlements < ${whole(SAMPLE_MIN_SETTLEMENTS)}, ${is('insufficient')},
    ${mostlyRound} OR (${ofKind('round')} AND ${ofKind('narrow')}), ${is('suspect')},
    ${ofKind('round')} OR ${ofKind('narrow')}, ${is('mixed')}, ${is('clean')})`;
}

const whole = (number: bigint | number): Sql => trustedText(String(number));

/** The value of a signal against a threshold, without a division. */
function reaches(id: SignalId, threshold: bigint): Sql {
  const rest = sql`(gross - self)`;
  switch (id) {
    case 'self_payment_share':
      return shareReaches(sql`self`, sql`gross`, threshold);
    case 'payer_concentration':
    case 'payee_concentration':
      return shareReaches(sql`squared`, sql`(${rest} * ${rest})`, threshold);
    case 'single_payer_dominance':
    case 'single_payee_dominance':
      return shareReaches(sql`largest`, rest, threshold);
    case 'reciprocity':
      return shareReaches(sql`mutual`, rest, threshold);
    case 'ring_membership':
      return sql`rings >= ${whole(threshold)}`;
  }
}

function shareReaches(part: Sql, of: Sql, threshold: bigint): Sql {
  return sql`(${of} > 0 AND ${part} * ${whole(SHARE_SCALE)} >= ${of} * ${whole(threshold)})`;
}

function anyOf(conditions: readonly Sql[]): Sql {
  const [first, ...rest] = conditions;
  if (first === undefined) return sql`0`;
  return sql`(${rest.reduce((all, next) => sql`${all} OR ${next}`, first)})`;
}
