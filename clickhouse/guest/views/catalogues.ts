import { hex, known, type ViewBody } from './body.ts';

/** One row for each payment option and source that lists it. */
export function endpointsBody(database: string): ViewBody<'endpoints'> {
  return {
    columns: {
      resource: 't.resource',
      method: 't.method',
      service_name: known('service_name'),
      pay_to: 't.pay_to',
      chain: known('chain'),
      asset: 't.asset',
      price_usd: 't.price_usd',
      tags: "CAST(t.tags, 'Array(String)')",
      last_updated: "nullIf(t.last_updated, toDateTime(0, 'UTC'))",
    },
    from: `${database}.endpoint_offers AS t FINAL WHERE t.del = 0`,
  };
}

export function facilitatorsBody(database: string): ViewBody<'facilitators'> {
  return {
    columns: {
      chain: 't.chain',
      address: hex('address'),
      facilitator: 't.facilitator',
      first_seen: 't.first_seen',
    },
    from: `${database}.facilitator_relayers AS t FINAL WHERE t.del = 0`,
  };
}
