import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { VERDICT_MEANING, VERDICTS } from '../../../core/domain/data-quality.ts';
import { WINDOWS } from '../../../core/domain/window.ts';
import { LIST_META_FIELDS, META_EXAMPLE } from '../meta.ts';
import type { Directory } from '../names.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  NameSourceShape,
  nowText,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import { type Chosen, ORDERS, type Order, SUBJECTS } from './orders.ts';
import type { RankingPage } from './rankings.ts';
import type { RankedFigures, RankedRow, RankedSubject } from './row.ts';

/** A row of a ranking by payments, whatever is ranked. */

const FiguresShape = Type.Object(
  {
    organic_usd: orNull(UsdShape, {
      description:
        'Dollars without self-payments, payments within a ring and payments between wallets that paid each other.',
    }),
    proven_usd: orNull(UsdShape, {
      description: 'The part of `organic_usd` that a named facilitator relayed.',
    }),
    organic_settlement_count: orNull(CountShape),
    distinct_counterparties: orNull(CountShape, {
      description:
        'Other wallets in organic payments; of facilitators the wallets served, payers and payees; of endpoints the payers, of capabilities the addresses that were paid.',
    }),
    settled_usd: { ...UsdShape, description: 'All dollars of the window.' },
    settlement_count: { ...CountShape, description: 'All settlements of the window.' },
  },
  { title: 'RankedFigures' },
);

export const RankedRowShape = Type.Object(
  {
    rank: Type.Integer({ minimum: 1, description: 'Place in the ranking; 1 is the best.' }),
    previous_rank: orNull(Type.Integer({ minimum: 1 }), {
      description:
        'Place by the same rule one window earlier, among the rows that are not left out now; null where it had none or the window before is not known.',
    }),
    wallet: Type.Optional(AddressShape),
    chain: Type.Optional(ChainShape),
    agent_id: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
    facilitator: Type.Optional(Type.String({ description: 'Its id.' })),
    resource: Type.Optional(Type.String({ description: 'URL of the resource.' })),
    method: Type.Optional(Type.String()),
    pay_to: Type.Optional(Type.String()),
    capability: Type.Optional(Type.String({ description: 'Its slug.' })),
    name: orNull(Type.String({ description: 'Null when unknown.' })),
    name_source: NameSourceShape,
    value: Type.Number({ description: 'What ranks: dollars or a number, by `meta.by`.' }),
    previous_value: orNull(Type.Number(), {
      description: 'The same one window earlier; null where that is not known.',
    }),
    change: orNull(Type.Number(), {
      description:
        'How the ranked figure changed against the window before, as a share of it: 0.5 is half as much again. Of `growth`, the gain as a share of the dollars of the window before. Null where those are 0 or not known.',
    }),
    figures: FiguresShape,
    sparkline: Type.Array(Type.Number(), {
      maxItems: 30,
      description:
        'The ranked figure in equal parts of the window, oldest first (`meta.sparkline`): dollars, or settlements where a number ranks.',
    }),
    data_quality: Type.Optional(
      oneOf(VERDICTS, {
        description: `Verdict on the payments of the window, as in /merchants/{address}; of endpoints on those of pay_to. Absent from facilitators and capabilities. ${Object.entries(
          VERDICT_MEANING,
        )
          .map(([verdict, meaning]) => `\`${verdict}\`: ${meaning}`)
          .join(' ')}`,
      }),
    ),
  },
  { title: 'RankedRow' },
);

const RankingMetaFields = {
  ...LIST_META_FIELDS,
  of: oneOf(SUBJECTS),
  by: oneOf(ORDERS),
  window: oneOf(WINDOWS),
  ranked_at: TimeShape,
  sparkline: orNull(
    Type.Object(
      {
        from: { ...TimeShape, description: 'When the first part begins.' },
        step_seconds: Type.Integer({ minimum: 3_600 }),
      },
      { title: 'SparklineParts' },
    ),
    { description: 'The parts of every sparkline; the newest one is not over. Null without sparklines.' },
  ),
};

export const RankingMetaShape = Type.Object(RankingMetaFields, { title: 'RankingMeta' });

type RankedAnswer = Static<typeof RankedRowShape>;

export function rankedAnswers(
  { rows }: RankingPage,
  {
    by,
    directory,
    chains,
  }: { readonly by: Order; readonly directory: Directory; readonly chains: readonly Chain[] },
): RankedAnswer[] {
  return rows.map((row) => ({
    rank: row.rank,
    previous_rank: row.previousRank,
    ...subjectAnswer(row.subject),
    ...nameOf(row.subject, directory, chains),
    value: usdNumber(row.value),
    previous_value: row.previousValue === null ? null : usdNumber(row.previousValue),
    change: changeOf(by, row),
    figures: figuresAnswer(row.figures),
    sparkline: row.sparkline.map(usdNumber),
    ...(row.verdict === null ? {} : { data_quality: row.verdict }),
  }));
}

function subjectAnswer({ agentId, payTo, name: _, ...subject }: RankedSubject) {
  return {
    ...subject,
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(payTo === undefined ? {} : { pay_to: payTo }),
  };
}

function nameOf(
  { wallet, chain, facilitator, resource, name }: RankedSubject,
  directory: Directory,
  chains: readonly Chain[],
): Pick<RankedAnswer, 'name' | 'name_source'> {
  if (wallet !== undefined) {
    const named = directory.walletName(wallet, chain === undefined ? chains : [chain]);
    return { name: named?.name ?? null, name_source: named?.source ?? null };
  }
  if (facilitator !== undefined) {
    const known = directory.facilitatorName(facilitator);
    return { name: known, name_source: known === null ? null : 'facilitator' };
  }
  const isListed = name !== undefined && resource !== undefined;
  return { name: name ?? null, name_source: isListed ? 'endpoint_catalogue' : null };
}

function figuresAnswer(figures: RankedFigures): Static<typeof FiguresShape> {
  const usd = (micros: bigint | null): number | null => (micros === null ? null : usdNumber(micros));
  return {
    organic_usd: usd(figures.organicUsdMicros),
    proven_usd: usd(figures.provenUsdMicros),
    organic_settlement_count: figures.organicSettlements,
    distinct_counterparties: figures.counterparties,
    settled_usd: usdNumber(figures.settledUsdMicros),
    settlement_count: figures.settlements,
  };
}

const CHANGE_SCALE = 10_000n;

/** In ten-thousandths, cut toward zero. The gain of a ranking by growth is its value. */
function changeOf(by: Order, { value, previousValue, figures }: RankedRow): number | null {
  if (previousValue === null) return null;
  const isGrowth = by === 'growth';
  const base = isGrowth ? (figures.organicUsdMicros ?? figures.settledUsdMicros) - value : previousValue;
  if (base === 0n) return null;
  const gain = isGrowth ? value : value - previousValue;
  return Number((gain * CHANGE_SCALE) / base) / Number(CHANGE_SCALE);
}

export function rankingFacts({ rankedAtMs, parts }: RankingPage, chosen: Chosen) {
  return {
    ...chosen,
    ranked_at: nowText(rankedAtMs),
    sparkline: parts === null ? null : { from: timeText(parts.from), step_seconds: parts.stepSeconds },
  };
}

export const RANKED_EXAMPLE: RankedAnswer = {
  rank: 1,
  previous_rank: 3,
  wallet: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  name: 'Weather by the call',
  name_source: 'agent_card',
  value: 1_240.5,
  previous_value: 827,
  change: 0.5,
  figures: {
    organic_usd: 1_240.5,
    proven_usd: 1_198.25,
    organic_settlement_count: 18_204,
    distinct_counterparties: 611,
    settled_usd: 1_251.75,
    settlement_count: 18_311,
  },
  sparkline: [160.25, 171.5, 180, 182.25, 168.5, 177, 201],
  data_quality: 'clean',
};

export const RANKING_META_EXAMPLE: Static<typeof RankingMetaShape> = {
  chain: META_EXAMPLE.chain,
  as_of: META_EXAMPLE.as_of,
  snapshot: null,
  freshness: META_EXAMPLE.freshness,
  of: 'merchants',
  by: 'organic_usd',
  window: '7d',
  ranked_at: META_EXAMPLE.as_of,
  sparkline: { from: '2026-11-14T00:00:00Z', step_seconds: 86_400 },
};
