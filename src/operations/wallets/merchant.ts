import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type JudgedRole, METHOD_VERSION, VERDICT_MEANING } from '../../../core/domain/data-quality.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import type { Window } from '../../../core/domain/window.ts';
import { agentAnswers } from '../agents/shape.ts';
import { finalOf, NO_NAMES, preflightAsOf, stateFor } from '../as-of.ts';
import { readWalletChannels } from '../channels/read.ts';
import { walletChannelsAnswer } from '../channels/shape.ts';
import { asOfParam, chainParam, finalityParam, walletParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { type FinalityFilter, finalOnly } from '../index-state/finality.ts';
import { metaAnswer, VERDICT_LEFT_OUT } from '../meta.ts';
import { cataloguedNameSource, type Directory, type NameSource } from '../names.ts';
import { invalid } from '../params.ts';
import { PRICES } from '../prices.ts';
import { readLastSettled } from '../settlements/feed.ts';
import { dateText, timeText, timeTextOrNull } from '../shapes.ts';
import { type Elsewhere, elsewhereAnswer, readElsewhere } from './elsewhere.ts';
import { inWindowAnswer, readInWindow } from './in-window.ts';
import { type LinkedWallet, linkedAnswer, readLinked } from './linked.ts';
import {
  lookUpLists,
  NO_AGENTS,
  readWalletAgents,
  readWalletEntities,
  type WalletEntity,
  type WalletLists,
} from './owners.ts';
import {
  AGENT_PROFILE_EXAMPLE,
  type EntityAnswer,
  PROFILE_EXAMPLE,
  type ProfileAnswer,
  ProfileShape,
} from './profile-shape.ts';
import { type Directions, startOfDay, type WalletRing } from './profile-totals.ts';
import {
  CHART_DAYS,
  judgeProfile,
  PROFILE_BOUNDS,
  type Profile,
  type ProfileBounds,
  readProfile,
} from './read-profile.ts';
import type { WalletScope } from './scope.ts';
import { coverageFor, figuresWindowParam, spanOf, windowEnd } from './window.ts';

export interface ProfileDeps extends Pick<OperationDeps, 'reader' | 'clock'> {
  readonly deployment: Pick<OperationDeps['deployment'], 'chains'>;
  readonly index: Pick<OperationDeps['index'], 'freshness' | 'rollups' | 'names' | 'snapshots'>;
}

interface ProfileRequest {
  readonly wallet: Address;
  readonly role: JudgedRole;
  readonly chain: Chain | undefined;
  readonly finality: FinalityFilter;
  readonly asOf?: Snapshot | undefined;
  /** Whose figures are added; undefined: none. */
  readonly window?: Window | undefined;
  readonly bounds?: ProfileBounds;
}

/** The figures of a window come from sums that follow the index, which have no snapshot. */
function refuseWindowOf(asOf: Snapshot | undefined, window: Window | undefined): void {
  if (asOf !== undefined && window !== undefined)
    throw invalid('window', 'window does not go with as_of: leave one of them out.');
}

/** Reads and judges one wallet. A wallet that the index never saw is an answer too: zeros, and `known: false`. */
export async function answerProfile(request: ProfileRequest, deps: ProfileDeps): Promise<ProfileAnswer> {
  const { wallet, role, chain, finality, window, asOf: asked } = request;
  refuseWindowOf(asked, window);
  const { reader, clock, deployment, index } = deps;
  const { chains } = deployment;
  const { freshness, rollups } = index;
  const nowMs = clock.nowMs();
  const statuses = await freshness.statuses();
  const { asOf, meta, nowMs: endMs } = await stateFor(deps, asked, { chain, leftOut: LEFT_OUT });
  const nowSeconds = Math.floor(endMs / 1_000);
  const final = asOf === undefined ? finalOnly(finality, statuses) : finalOf(asOf);
  const bounds = request.bounds ?? PROFILE_BOUNDS;
  const lists = asOf === undefined ? lookUpLists(reader, wallet) : NO_LISTS;
  const inWindow = async (wanted: Window) => {
    const coverage = await coverageFor(deps, { chain, final });
    const span = spanOf(wanted, windowEnd(nowMs));
    return readInWindow(reader, { wallet, chain, final, coverage, span, window: wanted });
  };
  const [profile, listed, channels, directory, figures, elsewhere] = await Promise.all([
    readProfile({ reader, rollups, lists }, { wallet, role, chain, final, asOf, nowSeconds, bounds }),
    readListed(deps, lists, { wallet, chain, role, final, wholeRowsReadMax: bounds.wholeRowsReadMax }),
    lists.read(['channels'], null, () => readWalletChannels(reader, { wallet, chain, final })),
    asOf === undefined ? index.names.of([wallet]) : NO_NAMES,
    window === undefined ? null : inWindow(window),
    readElsewhere(
      reader,
      { wallet, chain, final, asOf, role, chains, wholeRowsReadMax: bounds.wholeRowsReadMax },
      () => coverageFor(deps, { chain: undefined, final }),
    ),
  ]);
  const { entities, agents, lastSettled, linked } = listed;
  const named = directory.walletName(wallet, chain === undefined ? chains : [chain]);
  return {
    wallet,
    name: named?.name ?? null,
    name_source: named?.source ?? null,
    role,
    coverage: coverageAnswer(profile, bounds.scanRowsMax),
    entities: entities.map((entity) => entityAnswer(entity, wallet, directory)),
    erc8004_agents: agentAnswers(agents.shown, { lastSettled, nowMs, directory }),
    erc8004_agents_total: agents.total,
    aggregates: aggregatesAnswer(profile, { role, nowSeconds, finality }),
    ...walletChannelsAnswer(channels),
    ...(figures === null ? {} : { in_window: inWindowAnswer(figures, role) }),
    data_quality: qualityAnswer(profile, role, { chain, elsewhere }),
    ...elsewhereAnswer(elsewhere),
    ...(asOf === undefined ? { linked_wallets: linked } : {}),
    meta: metaAnswer({ chain, chains, statuses, nowMs, finality, ...meta }),
  };
}

/** Facts about a wallet outside its settlements are of today. The verdict of a snapshot is made without rings. */
const LEFT_OUT = [
  'name',
  'name_source',
  'entities',
  'erc8004_agents',
  'erc8004_agents_total',
  'channels',
  'linked_wallets',
  VERDICT_LEFT_OUT,
];
const NO_LISTS: WalletLists = { read: (_lists, nothing) => Promise.resolve(nothing) };

async function readListed(
  deps: ProfileDeps,
  lists: WalletLists,
  scope: WalletScope & { readonly role: JudgedRole },
) {
  const { reader } = deps;
  const [entities, agents, lastSettled] = await Promise.all([
    lists.read<WalletEntity[]>(['offers', 'payees', 'relayers'], [], () => readWalletEntities(reader, scope)),
    lists.read(['agents'], NO_AGENTS, () => readWalletAgents(reader, scope)),
    lists.read<ReadonlyMap<Address, number>>(['agents'], new Map(), () =>
      readLastSettled(reader, [scope.wallet]),
    ),
  ]);
  const found = await lists.read<readonly LinkedWallet[]>(['agents', 'offers', 'payees'], [], () =>
    readLinked(reader, scope.wallet, { entities, agents: agents.shown }),
  );
  const linked = await linkedAnswer(reader, found, scope, () =>
    coverageFor(deps, { chain: undefined, final: scope.final }),
  );
  return { entities, agents, lastSettled, linked };
}

function coverageAnswer(
  { totals, scan, scanTruncated }: Profile,
  scanCap: number,
): ProfileAnswer['coverage'] {
  return {
    known: totals.firstSeen !== null,
    first_seen: timeTextOrNull(totals.firstSeen),
    last_seen: timeTextOrNull(totals.lastSeen),
    settlements_scanned: scan.settlements,
    scan_truncated: scanTruncated,
    scan_cap: scanCap,
  };
}

/** Names from other sources are claims of those who published the listing. */
const OPERATOR_SOURCES: readonly string[] = ['configured', 'file'];

function entityAnswer(entity: WalletEntity, wallet: Address, directory: Directory): EntityAnswer {
  const { kind, chain, source } = entity;
  const isClaim = kind !== 'relayer' && !OPERATOR_SOURCES.includes(source);
  const isName =
    entity.name !== '' && !(isClaim && directory.imitatedFacilitator(entity.name, wallet) !== null);
  const name = isName ? entity.name : null;
  const common = { kind, chain, name, name_source: name === null ? null : nameSourceOf(entity), source };
  return entity.kind === 'relayer'
    ? { ...common, facilitator: entity.facilitator, since: entity.since }
    : { ...common, resource: entity.resource };
}

function nameSourceOf({ kind, source }: WalletEntity): NameSource {
  if (kind === 'relayer') return 'facilitator';
  return kind === 'endpoint' ? 'endpoint_catalogue' : cataloguedNameSource(source);
}

function aggregatesAnswer(
  { totals, scanTruncated, counterparties }: Profile,
  context: { readonly role: JudgedRole; readonly nowSeconds: number; readonly finality: FinalityFilter },
): ProfileAnswer['aggregates'] {
  const inRole = context.role === 'payee' ? totals.inbound : totals.outbound;
  return {
    ...flowsAnswer(totals),
    distinct_counterparties: counterparties.count,
    self_payment_usd: usdNumber(totals.inbound.selfUsdMicros),
    organic_usd: usdNumber(inRole.usdMicros - inRole.selfUsdMicros),
    proven_usd: usdNumber(inRole.provenUsdMicros),
    chain_split: totals.chains.map(({ chain, ...flows }) => ({ chain, ...flowsAnswer(flows) })),
    daily: [...totals.days]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([date, flows]) => ({ date, ...flowsAnswer(flows) })),
    daily_window: {
      since: dateText(startOfDay(context.nowSeconds, CHART_DAYS - 1)),
      until: dateText(context.nowSeconds),
    },
    basis: {
      totals: 'exact',
      distinct_counterparties: counterparties.exact ? 'exact' : 'estimated',
      signals: scanTruncated ? 'newest_settlements' : 'all_settlements',
      finality: context.finality,
    },
  };
}

function flowsAnswer({ inbound, outbound }: Directions) {
  return {
    inbound_usd: usdNumber(inbound.usdMicros),
    inbound_count: inbound.count,
    outbound_usd: usdNumber(outbound.usdMicros),
    outbound_count: outbound.count,
  };
}

interface AskedChain {
  readonly chain: Chain | undefined;
  readonly elsewhere: readonly Elsewhere[] | null;
}

function qualityAnswer(profile: Profile, role: JudgedRole, asked: AskedChain): ProfileAnswer['data_quality'] {
  const { verdict, signals } = judgeProfile(profile, role);
  return {
    verdict,
    note: (verdict === 'unobserved' ? notHereNote(asked) : null) ?? VERDICT_MEANING[verdict],
    signals: signals.map((signal) =>
      signal.id === 'ring_membership'
        ? { ...signal, ...ringFacts(profile.rings) }
        : { ...signal, method_version: METHOD_VERSION, ...scanNote(profile) },
    ),
  };
}

/** Null where the wallet has nothing on other chains, either. */
function notHereNote({ chain, elsewhere }: AskedChain): string | null {
  if (chain === undefined || elsewhere === null || elsewhere.length === 0) return null;
  const others = elsewhere.map((one) => `${one.count} on ${one.chain}`).join(', ');
  return `No settlement on ${chain} has this wallet in this role: ${others} do, which \`chain\` left out.`;
}

function scanNote({ scan, scanTruncated }: Profile): { note?: string } {
  if (!scanTruncated) return {};
  const asOf = scan.scannedAt === null ? '' : ` as of ${timeText(scan.scannedAt)}`;
  return { note: `Over the newest ${scan.settlements} settlements${asOf}.` };
}

/** Rings come from a pass of their own, with its own method and window. */
function ringFacts([strongest]: readonly WalletRing[]): { method_version: string; note?: string } {
  if (strongest === undefined) return { method_version: METHOD_VERSION };
  const { bottleneckUsdMicros, members, methodVersion, windowEnd } = strongest;
  return {
    method_version: methodVersion,
    note: `Strongest: ${usdNumber(bottleneckUsdMicros)} USD through ${members.join(' > ')}, in the window that ended ${timeText(windowEnd)}.`,
  };
}

export const getMerchant = defineOperation({
  id: 'getMerchant',
  wire: {
    path: '/merchants/{address}',
    params: {
      address: walletParam,
      window: figuresWindowParam,
      chain: chainParam,
      finality: finalityParam,
      as_of: asOfParam,
    },
    output: ProfileShape,
    fails: ['invalid_parameter', 'snapshot_gone', 'upstream_unavailable'],
  },
  words: {
    summary: 'What a wallet received, and how far to trust the figures',
    description:
      'Exact totals of a wallet in both directions, judged as a payee: by chain, by day, with the share that is proven, what is left without self-payments, and signals against wash trading. Over every indexed chain; with `chain` of that one alone, and `elsewhere` says what the others have. An unknown wallet is an answer with `coverage.known` false. Figures that come from part of the settlements say so in `basis`.',
    tool: 'One wallet as a payee: totals by chain and day, the proven share, the sum without self-payments, signals of wash trading.',
    example: PROFILE_EXAMPLE,
  },
  money: { price: PRICES.keyed, load: 'summary' },
  preflight: (input, deps) => preflightAsOf(input, deps),
  read: ({ address, window, chain, finality, as_of: asOf }, deps) =>
    answerProfile({ wallet: address, role: 'payee', window, chain, finality, asOf }, deps),
});

/** The same profile from the side of a payer. */
export const getAgent = defineOperation({
  id: 'getAgent',
  wire: {
    path: '/agents/{wallet}',
    params: {
      wallet: walletParam,
      window: figuresWindowParam,
      chain: chainParam,
      finality: finalityParam,
      as_of: asOfParam,
    },
    output: ProfileShape,
    fails: ['invalid_parameter', 'snapshot_gone', 'upstream_unavailable'],
  },
  words: {
    summary: 'What a wallet paid, and how far to trust the figures',
    description:
      'The same answer as a merchant profile, judged as a payer: signals are about the wallets that it pays. Any wallet has one; `erc8004_agents` are the agents that pay and are paid with it. An agent is found by its id on `/agents`.',
    tool: 'One wallet as a payer: as get_merchant, judged by the wallets that it pays, with its ERC-8004 agents.',
    example: AGENT_PROFILE_EXAMPLE,
  },
  money: { price: PRICES.keyed },
  preflight: (input, deps) => preflightAsOf(input, deps),
  read: ({ wallet, window, chain, finality, as_of: asOf }, deps) =>
    answerProfile({ wallet, role: 'payer', window, chain, finality, asOf }, deps),
});
