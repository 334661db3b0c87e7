import { ApiProblem, getJson } from '../api.ts';
import { channelWords } from '../channel-words.ts';
import { chainText, moneyText, shortAddress } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { CONSOLE_BASE, walletPath } from '../routes.ts';
import type {
  Agents,
  Capabilities,
  ChannelAnswer,
  Endpoints,
  Merchants,
  Rankings,
  WalletSummary,
} from '../wire.ts';
import { type Entry, matches } from './entries.ts';

/** Names that the API knows: of agents, endpoints, facilitators and capabilities, each with its source. */

const EACH_MAX = 5;
/** The API has no search for facilitators and capabilities; there are few of both, which are read once. */
const FACILITATORS_MAX = 100;

/** The names that the text finds. A refusal of the API is reported to `onProblem`, and the others are found all the same. */
export async function findNames(
  text: string,
  signal: AbortSignal,
  onProblem: (problem: unknown) => void,
): Promise<readonly Entry[]> {
  const query = { q: text, limit: EACH_MAX };
  const matching = (entries: readonly Entry[]): readonly Entry[] =>
    entries.filter(({ title }) => matches(title, text)).slice(0, EACH_MAX);
  const asked: readonly Promise<readonly Entry[]>[] = [
    getJson<Merchants>('/merchants', { query: { ...query, window: 'all' }, signal }).then(({ merchants }) =>
      merchants.flatMap(merchantEntry),
    ),
    facilitatorEntries().then(matching),
    getJson<Agents>('/agents', { query, signal }).then(({ agents }) => agents.map(agentEntry)),
    getJson<Endpoints>('/endpoints', { query, signal }).then(({ endpoints }) => endpoints.map(endpointEntry)),
    capabilityEntries().then(matching),
  ];
  const found = await Promise.allSettled(asked);
  const entries = found.flatMap((one) => {
    if (one.status === 'fulfilled') return one.value;
    onProblem(one.reason);
    return [];
  });
  // An agent that is paid is a merchant too, with one page.
  return entries.filter(({ href }, at) => entries.findIndex((other) => other.href === href) === at);
}

/** The entries of an address with the name of the wallet, where it has one. */
export async function nameWallet(
  entries: readonly Entry[],
  wallet: string,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const query = { chain: 'all' };
  const path = `/entities/${wallet}/summary`;
  const { name, name_source: source } = await getJson<WalletSummary>(path, { query, signal });
  if (name === null) return entries;
  return entries.map((entry) => ({
    ...entry,
    title: name,
    detail: `${entry.title}, ${entry.detail}, ${nameSourceText(source)}`,
  }));
}

/**
 * Of the entries of a hash the one of the channel where the index has such a channel, and otherwise all but that. A request that finds nothing
 * costs nothing, and hashes of transactions are what is looked for most.
 */
export async function chooseByHash(
  entries: readonly Entry[],
  hash: string,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  if (entries.every(({ kind }) => kind !== 'channel')) return entries;
  try {
    const { channel } = await getJson<ChannelAnswer>(`/channels/${hash}`, { signal });
    const { payer, payer_name: from, payee, payee_name: to, chain } = channel;
    const parties = `${from ?? shortAddress(payer)} to ${to ?? shortAddress(payee)}`;
    const detail = `${channelWords(channel).thing.toLowerCase()}, ${parties}, on ${chainText(chain)}`;
    return entries.flatMap((entry) => (entry.kind === 'channel' ? [{ ...entry, detail }] : []));
  } catch (error) {
    if (error instanceof ApiProblem && error.body.code === 'channel_not_found')
      return entries.filter(({ kind }) => kind !== 'channel');
    throw error;
  }
}

function agentEntry({ agent_id: id, chain, name, wallet }: Agents['agents'][number]): Entry {
  const title = name ?? `Agent #${id}`;
  return {
    kind: 'agent',
    title,
    detail: `agent #${id} on ${chainText(chain)}, named by its card`,
    href: `${CONSOLE_BASE}${wallet === null ? `/agents?q=${encodeURIComponent(title)}` : walletPath(wallet, 'payee')}`,
    ...(wallet === null ? {} : { wallet }),
  };
}

/** Most paid first, as the API ranks them. */
function merchantEntry({
  wallet,
  name,
  name_source: source,
  value: usd,
}: Merchants['merchants'][number]): Entry[] {
  if (wallet === undefined) return [];
  return [
    {
      kind: 'merchant',
      title: name ?? wallet,
      detail: `merchant, ${moneyText(usd)} in payments, ${nameSourceText(source)}`,
      href: `${CONSOLE_BASE}${walletPath(wallet, 'payee')}`,
      wallet,
    },
  ];
}

function endpointEntry({ resource, service_name: name }: Endpoints['endpoints'][number]): Entry {
  return {
    kind: 'endpoint',
    title: name ?? resource,
    detail: name === null ? 'endpoint' : `endpoint ${resource}`,
    href: `${CONSOLE_BASE}/endpoints?q=${encodeURIComponent(resource)}`,
  };
}

const facilitatorEntries = once(async (): Promise<readonly Entry[]> => {
  const { leaderboard } = await getJson<Rankings>('/leaderboard', {
    query: { of: 'facilitators', by: 'settlements', window: 'all', limit: FACILITATORS_MAX },
  });
  return leaderboard.flatMap(({ facilitator: id, name }): Entry[] =>
    id === undefined
      ? []
      : [
          {
            kind: 'facilitator',
            title: name ?? id,
            detail: name === null ? 'facilitator' : `facilitator ${id}`,
            href: `${CONSOLE_BASE}/facilitators/${encodeURIComponent(id)}`,
          },
        ],
  );
});

const capabilityEntries = once(async (): Promise<readonly Entry[]> => {
  const { capabilities } = await getJson<Capabilities>('/capabilities', { query: { fields: 'compact' } });
  return capabilities.map(({ slug, name }) => ({
    kind: 'capability',
    title: name,
    detail: 'capability',
    href: `${CONSOLE_BASE}/capabilities/${slug}`,
  }));
});

/** Keeps the first answer; a failure is not kept, so that the next search asks again. */
function once<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let kept: Promise<Answer> | null = null;
  return () => {
    if (kept === null) {
      kept = read();
      kept.catch(() => {
        kept = null;
      });
    }
    return kept;
  };
}
