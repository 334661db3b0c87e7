import { DAY_SECONDS } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type PaidFacts, payReasons, REFUND_WINDOW } from '../../../core/domain/pay-reasons.ts';
import type { AgentRow } from '../agents/row.ts';
import { readWalletChannels, type WalletChannels } from '../channels/read.ts';
import { chainParam, finalityParam, walletParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { finalOnly } from '../index-state/finality.ts';
import { type Meta, metaAnswer } from '../meta.ts';
import type { Directory } from '../names.ts';
import { PRICES } from '../prices.ts';
import { timeTextOrNull } from '../shapes.ts';
import { type Elsewhere, elsewhereAnswer, readElsewhere } from './elsewhere.ts';
import { lookUpLists, NO_AGENTS, readWalletAgents } from './owners.ts';
import { judgeProfile, PROFILE_BOUNDS, type Profile, readProfile } from './read-profile.ts';
import {
  NO_OFFERS,
  readPaid,
  readUsualPrice,
  readWalletOffers,
  type UsualPrice,
  type WalletOffers,
} from './read-summary.ts';
import { type Refunds, readRefunds } from './refunds.ts';
import type { WalletScope } from './scope.ts';
import {
  ELSEWHERE_SHOWN_MAX,
  ELSEWHERE_WITH_CHANNELS_MAX,
  SUMMARY_EXAMPLE,
  type SummaryAnswer,
  SummaryShape,
  TEXT_MAX_CHARS,
} from './summary-shape.ts';
import { coverageFor, spanOf, windowEnd } from './window.ts';

/** Whether to pay an address, in a few lines. Every figure is that of the profile as a payee. */

const SCORE_DECIMALS = 2;

/** Everything that was read. */
interface SummaryFacts {
  readonly wallet: Address;
  readonly profile: Profile;
  /** What it was paid on the chains that were not asked for; null where all were. */
  readonly elsewhere: readonly Elsewhere[] | null;
  readonly agents: { readonly shown: readonly AgentRow[]; readonly total: number };
  readonly offers: WalletOffers;
  /** Null for a wallet that is in none. */
  readonly channels: WalletChannels | null;
  readonly refunds: Refunds;
  readonly paid: PaidFacts;
  readonly isPaidElsewhere: boolean;
  readonly price: UsualPrice | null;
  readonly directory: Directory;
  /** The first one in question. */
  readonly chains: readonly Chain[];
  readonly nowSeconds: number;
  readonly meta: Meta;
}

function summaryAnswer(facts: SummaryFacts): SummaryAnswer {
  const { wallet, profile, elsewhere, offers, refunds, price, directory, chains, nowSeconds, meta } = facts;
  const { totals, counterparties } = profile;
  const { inbound, firstSeen, lastSeen } = totals;
  const { verdict, signals } = judgeProfile(profile, 'payee');
  const named = directory.walletName(wallet, chains);
  const agent = agentOf(facts.agents.shown);
  const elsewhereMax = facts.channels === null ? ELSEWHERE_SHOWN_MAX : ELSEWHERE_WITH_CHANNELS_MAX;
  const { speaksFor, speaksAgainst } = payReasons({
    verdict,
    isPaidElsewhere: facts.isPaidElsewhere,
    triggered: signals.filter(({ triggered }) => triggered).map(({ id }) => id),
    paid: facts.paid,
    nowSeconds,
    identity: agent === null ? null : provenFacts(agent, directory),
    offers,
  });
  return {
    wallet,
    name: named === null ? null : cut(named.name),
    name_source: named?.source ?? null,
    verdict,
    reasons_for: [...speaksFor],
    reasons_against: [...speaksAgainst],
    received: {
      settlement_count: inbound.count,
      usd: usdNumber(inbound.usdMicros),
      organic_usd: usdNumber(inbound.usdMicros - inbound.selfUsdMicros),
      proven_usd: usdNumber(inbound.provenUsdMicros),
      counterparties: counterparties.count,
    },
    ...elsewhereAnswer(elsewhere?.slice(0, elsewhereMax) ?? null),
    first_seen: timeTextOrNull(firstSeen),
    last_seen: timeTextOrNull(lastSeen),
    age_days: firstSeen === null ? null : Math.max(0, Math.floor((nowSeconds - firstSeen) / DAY_SECONDS)),
    identity: agent === null ? null : identityAnswer(agent, facts.agents.total),
    offers: {
      count: offers.count,
      published: offers.published,
      contested: offers.contested,
      site: offers.site === '' ? null : cut(offers.site),
    },
    ...channelsAnswer(facts.channels),
    refunds: { payers: refunds.payers, settlement_count: refunds.count, usd: usdNumber(refunds.usdMicros) },
    compare: compareAnswer(price, offers),
    meta: shortMeta(meta),
  };
}

/** The agent that stands for the wallet. */
function agentOf(shown: readonly AgentRow[]): AgentRow | null {
  return shown.find(({ domainProof }) => domainProof === 'proven') ?? shown[0] ?? null;
}

function provenFacts({ name, wallet, domainProof, paidScore, paidClients }: AgentRow, directory: Directory) {
  return {
    domainProof,
    isImitation: directory.imitatedFacilitator(name, wallet) !== null,
    paidScore: paidScore === null ? null : Number(paidScore),
    paidClients,
  };
}

function identityAnswer(agent: AgentRow, total: number): NonNullable<SummaryAnswer['identity']> {
  return {
    agent_count: total,
    chain: agent.chain,
    agent_id: String(agent.agentId),
    domain: agent.domain === '' ? null : cut(agent.domain),
    domain_proof: agent.domainProof,
    paid_score: agent.paidScore === null ? null : Number(Number(agent.paidScore).toFixed(SCORE_DECIMALS)),
    paid_rating_clients: agent.paidClients,
  };
}

function channelsAnswer(channels: WalletChannels | null): Pick<SummaryAnswer, 'channels'> {
  if (channels === null) return {};
  const { asPayer, asPayee } = channels;
  return {
    channels: {
      open_as_payer: asPayer.open,
      usd_as_payer: usdOrNull(asPayer.balanceUsdMicros),
      open_as_payee: asPayee.open,
      usd_as_payee: usdOrNull(asPayee.balanceUsdMicros),
    },
  };
}

function compareAnswer(
  price: UsualPrice | null,
  { minUsdMicros, maxUsdMicros }: WalletOffers,
): SummaryAnswer['compare'] {
  return {
    payments: price?.payments ?? 0,
    min_usd: usdOrNull(price?.minUsdMicros),
    median_usd: usdOrNull(price?.medianUsdMicros),
    max_usd: usdOrNull(price?.maxUsdMicros),
    listed_min_usd: usdOrNull(minUsdMicros),
    listed_max_usd: usdOrNull(maxUsdMicros),
  };
}

function usdOrNull(micros: bigint | null | undefined): number | null {
  return micros === null || micros === undefined ? null : usdNumber(micros);
}

/** Names and domains are made safe to show before they are stored. */
function cut(shown: string): string {
  const chars = [...shown];
  return chars.length <= TEXT_MAX_CHARS ? shown : `${chars.slice(0, TEXT_MAX_CHARS - 1).join('')}…`;
}

function shortMeta({ chain, as_of, freshness, warnings }: Meta): SummaryAnswer['meta'] {
  const lags = freshness.chains.map((one) => one.lag_seconds);
  return {
    chain,
    as_of,
    lag_seconds: lags.reduce<number | null>(
      (most, lag) => (most === null || lag === null ? null : Math.max(most, lag)),
      0,
    ),
    ...(warnings === undefined ? {} : { warnings }),
  };
}

/** Whether others paid it on the chains that were not asked for: looked up where there are settlements, and none here that would say so. */
async function isPaidElsewhere(
  deps: Pick<OperationDeps, 'reader' | 'index'>,
  scope: WalletScope,
  { paid, elsewhere }: Pick<SummaryFacts, 'paid' | 'elsewhere'>,
): Promise<boolean> {
  if (paid.settlements > 0 || elsewhere === null || elsewhere.length === 0) return false;
  const everywhere = { ...scope, chain: undefined };
  const coverage = await coverageFor(deps, everywhere);
  return (await readPaid(deps.reader, { ...everywhere, coverage })).settlements > 0;
}

export const getEntitySummary = defineOperation({
  id: 'getEntitySummary',
  wire: {
    path: '/entities/{wallet}/summary',
    params: { wallet: walletParam, chain: chainParam, finality: finalityParam },
    output: SummaryShape,
  },
  words: {
    summary: 'Whether to pay an address, in under 1.5 KB',
    description:
      'What the index knows of an address that asks to be paid: the verdict of its profile as a payee, what speaks for and against it (closed lists), what it received and how much of that is organic and proven, its age, its ERC-8004 identity with the state of its proof, what is offered under it, what it paid back to its payers, and prices to compare yours with. A wallet that the index never saw is an answer, too. Over every indexed chain; with `chain` of that one alone, and `elsewhere` says what it was paid on the others.',
    tool: 'Call before paying an address: verdict, reasons for and against, proven dollars, age, identity, offers, refunds and its usual price.',
    example: SUMMARY_EXAMPLE,
  },
  money: { price: PRICES.keyed, load: 'summary' },
  read: async ({ wallet, chain, finality }, deps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { names, freshness, rollups },
    } = deps;
    const nowMs = clock.nowMs();
    const nowSeconds = Math.floor(nowMs / 1_000);
    const lists = lookUpLists(reader, wallet);
    const statuses = await freshness.statuses();
    const scope = { wallet, chain, final: finalOnly(finality, statuses) };
    const coverage = await coverageFor(deps, scope);
    const span = spanOf(REFUND_WINDOW, windowEnd(nowMs));
    const [profile, agents, offers, channels, refunds, paid, price, directory, elsewhere] = await Promise.all(
      [
        readProfile(
          { reader, rollups, lists },
          { ...scope, role: 'payee', nowSeconds, bounds: PROFILE_BOUNDS },
        ),
        lists.read(['agents'], NO_AGENTS, () => readWalletAgents(reader, scope)),
        lists.read(['offers'], NO_OFFERS, () => readWalletOffers(reader, scope)),
        lists.read(['channels'], null, () => readWalletChannels(reader, scope)),
        readRefunds(reader, { ...scope, span, coverage }),
        readPaid(reader, { ...scope, coverage }),
        readUsualPrice(reader, scope),
        names.of([wallet]),
        readElsewhere(reader, { ...scope, role: 'payee', chains }, () =>
          coverageFor(deps, { ...scope, chain: undefined }),
        ),
      ],
    );
    return summaryAnswer({
      wallet,
      profile,
      elsewhere,
      agents,
      offers,
      channels,
      refunds,
      paid,
      isPaidElsewhere: await isPaidElsewhere(deps, scope, { paid, elsewhere }),
      price,
      directory,
      chains: chain === undefined ? chains : [chain],
      nowSeconds,
      meta: metaAnswer({ chain, chains, statuses, nowMs, finality }),
    });
  },
});
