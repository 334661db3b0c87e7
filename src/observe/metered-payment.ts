import { type Meter, secondsSince } from '../../core/meter.ts';
import type { Facilitator } from '../payment/facilitator.ts';
import type { PaidCall, PaymentLane, SettledCall } from '../payment/payment-lane.ts';

const MICROS_PER_DOLLAR = 1_000_000;

/** Counts what the facilitator is asked, and how it answers. */
export function meteredFacilitator(facilitator: Facilitator, meter: Meter): Facilitator {
  const timed = async <Answer extends { readonly outcome: string }>(
    stage: string,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const startedMs = performance.now();
    const answer = await ask(); // rejects never, by its contract
    meter.count('payments_total', { stage, outcome: answer.outcome });
    meter.observe('payment_seconds', { stage }, secondsSince(startedMs));
    return answer;
  };
  return {
    verify: (payment, signal) => timed('verify', () => facilitator.verify(payment, signal)),
    settle: (payment) => timed('settle', () => facilitator.settle(payment)),
    announced: () => timed('announced', () => facilitator.announced()),
  };
}

/** Adds up what was paid for answers that left. */
export function meteredLane(lane: PaymentLane, meter: Meter): PaymentLane {
  const settled = (call: SettledCall): SettledCall => ({
    ...call,
    async finish(answered, isOurFault) {
      await call.finish(answered, isOurFault);
      if (answered) meter.count('payments_served_usd_total', {}, Number(call.usdMicros) / MICROS_PER_DOLLAR);
    },
  });
  const watched = (call: PaidCall): PaidCall => {
    if (call.kind === 'settled') return settled(call);
    return { ...call, settle: async (usdMicros) => settled(await call.settle(usdMicros)) };
  };
  return {
    offer: (order) => lane.offer(order),
    take: async (sent) => watched(await lane.take(sent)),
  };
}
