import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/account.ts';
import { PERIODS, type Period } from '../../../core/domain/dashboard.ts';
import { isSlug, SLUG_MAX_CHARS } from '../../../core/domain/saved-query.ts';
import { chainParam, walletParam } from '../common-params.ts';
import { invalid, type Param, quoted, readChoice } from '../params.ts';
import { ownerParam, slugParam } from '../saved/params.ts';

/** The parameters of dashboards. */

const DEFAULT_PERIOD: Period = '7d';

const periodParam: Param<Period> = {
  in: 'query',
  description: 'The time up to now that its panels are about.',
  required: false,
  schema: Type.Union(
    PERIODS.map((period) => Type.Literal(period)),
    { default: DEFAULT_PERIOD },
  ),
  example: '24h',
  read: (raw, name) => (raw === undefined ? DEFAULT_PERIOD : readChoice(raw, name, PERIODS)),
};

const boardWalletParam: Param<Address | undefined> = {
  ...walletParam,
  in: 'query',
  description: 'The wallet that it is about, where it is about one.',
  required: false,
  read: (raw, name, facts) => (raw === undefined ? undefined : walletParam.read(raw, name, facts)),
};

const TOKEN_MAX_CHARS = 100;

const tokenParam: Param<string | undefined> = {
  in: 'query',
  description: 'The token of its frame: opens a private dashboard for whoever has it.',
  required: false,
  schema: Type.String({ maxLength: TOKEN_MAX_CHARS }),
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && raw !== '' && raw.length <= TOKEN_MAX_CHARS) return raw;
    throw invalid(name, `${name} must be a token as PUT /v0/dashboards/{slug} gives it.`);
  },
};

export const boardSlugParam: Param<string> = {
  ...slugParam,
  component: 'DashboardSlug',
  description: `Name of the dashboard: lower-case letters, digits and single hyphens, at most ${SLUG_MAX_CHARS}.`,
  example: 'home',
};

const panelParam: Param<string> = {
  in: 'path',
  description: 'Its `id` among the panels of the dashboard.',
  required: true,
  schema: Type.String({ maxLength: SLUG_MAX_CHARS }),
  example: 'figures',
  read: (raw, name) => {
    if (typeof raw === 'string' && isSlug(raw)) return raw;
    throw invalid(name, `${name} must be the id of a panel, not ${quoted(raw)}.`);
  },
};

export const BOARD_PARAMS = {
  owner: {
    ...ownerParam,
    component: 'DashboardOwner',
    description: 'Handle of its owner.',
    example: 'index',
  },
  slug: boardSlugParam,
  period: periodParam,
  chain: chainParam,
  wallet: { ...boardWalletParam, component: 'DashboardWallet' },
  token: { ...tokenParam, component: 'DashboardToken' },
};

export const PANEL_PARAMS = { ...BOARD_PARAMS, panel: panelParam };
