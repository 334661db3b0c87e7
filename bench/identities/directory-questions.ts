import { empty, type Sql, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import type { RouteQuestion } from './ask-route.ts';
import type { IdentityLab } from './lab.ts';
import { ABSENT_WORD, COMMON_WORD } from './synthetic-words.ts';

/** /endpoints, /capabilities and the names on /flows. */

const LIMIT = 50;
/** The furthest that pages reach by offset. */
const DEEP = 10_000;
const DEEP_QUICK = 2_000;
/** Of 100 settlements nearly all parties are different wallets. */
const FLOWS = '/v0/flows?limit=100';
/** The catalogue's first and last: one agent in six, one in a hundred. */
const HOT_CAPABILITY = 'web-search';
const COLD_CAPABILITY = 'legal-and-government';
/** A word that a few hundred listings have. */
const USUAL_WORD = 'payments';

interface EndpointsBody {
  readonly endpoints: readonly { readonly resource: string; readonly method: string }[];
}

interface CapabilityBody {
  readonly offers: EndpointsBody['endpoints'];
  readonly agents: readonly { readonly chain: string; readonly agent_id: string }[];
}

interface FlowsBody {
  readonly flows: readonly { readonly payer_name: string | null; readonly payee_name: string | null }[];
}

const endpointKeys = (rows: EndpointsBody['endpoints']): string[] =>
  rows.map(({ resource, method }) => `${resource} ${method}`);

/** The directory without `endpoint_list`: offers and what was paid on their terms, looked up at every request. */
function offersScan(
  condition: Sql,
  { limit, offset = 0 }: { readonly limit: number; readonly offset?: number },
): Sql {
  return sql`SELECT concat(resource, ' ', method) FROM (
      SELECT resource, method, paid, payers
      FROM (SELECT *, ifNull(amount, 0) AS terms, extract(resource, '^[a-z]+://[^/?#]+') AS origin
        FROM endpoint_offers FINAL WHERE del = 0 ${condition}) AS offers
      LEFT JOIN (SELECT pay_to, chain, asset, amount AS terms, origin, settlement_count AS paid, unique_payers AS payers
        FROM offer_activity FINAL WHERE del = 0) AS activity USING (pay_to, chain, asset, terms, origin))
    GROUP BY resource, method ORDER BY argMax(paid, (payers, paid)) DESC, resource, method LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`;
}

const saying = (word: string): Sql =>
  sql`AND position(lowerUTF8(concat(resource, ' ', service_name, ' ', description, ' ', arrayStringConcat(tags, ' '))), ${text(word)}) > 0`;
const offering = (slug: string): Sql => sql`AND has(capabilities, ${text(slug)})`;

export function directoryQuestions({ size, agents }: IdentityLab, quick: boolean): RouteQuestion[] {
  const deep = quick ? DEEP_QUICK : DEEP;
  const endpoints = (
    name: string,
    query: string,
    condition: Sql,
    more: { readonly offset?: number; readonly findsNothing?: boolean } = {},
  ): RouteQuestion => ({
    name: `endpoints-${name}`,
    asks: [
      {
        path: `/v0/endpoints?limit=${LIMIT}${query}${more.offset === undefined ? '' : `&offset=${more.offset}`}`,
        scan: offersScan(condition, { limit: LIMIT, ...more }),
      },
    ],
    keysOf: (body) => endpointKeys((body as EndpointsBody).endpoints), // our own API
    ...(more.findsNothing === true ? { findsNothing: true } : {}),
    // Narrow columns of every resource, and a granule for each row of the page.
    goals: { rowsReadBelow: size.resources * 1.5, ...(condition === empty ? { fasterThanScan: 3 } : {}) },
  });
  return [
    endpoints('first-page', '', empty),
    endpoints('deep-page', '', empty, { offset: deep }),
    endpoints('word-usual', `&q=${USUAL_WORD}`, saying(USUAL_WORD)),
    endpoints('word-common', `&q=${COMMON_WORD}`, saying(COMMON_WORD)),
    endpoints('word-absent', `&q=${ABSENT_WORD}`, saying(ABSENT_WORD), { findsNothing: true }),
    endpoints('capability', `&capability=${COLD_CAPABILITY}`, offering(COLD_CAPABILITY)),
    ...capabilityQuestions({ size, agents }),
    ...nameQuestions(),
  ];
}

function capabilityQuestions({ size, agents }: Pick<IdentityLab, 'size' | 'agents'>): RouteQuestion[] {
  const list = { asks: [{ path: '/v0/capabilities' }], keysOf: slugsOf };
  // All offers and agents; what is left of it within half a minute.
  const counting = (size.resources + agents.agents) * 1.2;
  const remembering = size.resources * 2.5;
  return [
    { ...list, name: 'capabilities-counted', goals: { rowsReadBelow: counting } },
    { ...list, name: 'capabilities-remembered', remembers: true, goals: { rowsReadBelow: 10_000 } },
    ...[HOT_CAPABILITY, COLD_CAPABILITY].flatMap((slug): RouteQuestion[] => {
      const path = `/v0/capabilities/${slug}?limit=${LIMIT}`;
      return [
        {
          name: `capability-${slug}-counted`,
          asks: [{ path, scan: offersScan(offering(slug), { limit: LIMIT }) }],
          keysOf: (body) => endpointKeys((body as CapabilityBody).offers), // our own API
          goals: { rowsReadBelow: counting + remembering },
        },
        {
          name: `capability-${slug}-remembered`,
          asks: [{ path, scan: agentsScan(slug) }],
          keysOf: (body) =>
            (body as CapabilityBody).agents.map(({ chain, agent_id }) => `${chain} ${agent_id}`), // our own API
          remembers: true,
          goals: { rowsReadBelow: remembering },
        },
      ];
    }),
  ];
}

/** `agents` of an answer about a capability: at most 20. */
function agentsScan(slug: string): Sql {
  return sql`SELECT concat(chain, ' ', toString(agent_id)) FROM (SELECT * FROM agents FINAL)
    WHERE del = 0 AND active = 1 AND has(capabilities, ${text(slug)}) ORDER BY feedback_count DESC, chain, agent_id LIMIT 20`;
}

function slugsOf(body: unknown): string[] {
  return (body as { readonly capabilities: readonly { readonly slug: string }[] }).capabilities.map(
    ({ slug }) => slug,
  ); // our own API
}

function nameQuestions(): RouteQuestion[] {
  const flows = {
    asks: [{ path: FLOWS }],
    keysOf: (body: unknown) =>
      (body as FlowsBody).flows.flatMap(({ payer_name: payer, payee_name: payee }) =>
        [payer, payee].filter((name) => name !== null),
      ), // our own API
  };
  return [
    { ...flows, name: 'flows-names-cold', goals: { rowsReadBelow: 250_000 } },
    { ...flows, name: 'flows-names-remembered', remembers: true, goals: { rowsReadBelow: 50_000 } },
  ];
}
