/** Dashboards: panels of saved queries in a grid, with a period and a chain that the reader chooses. */

/** The periods that a dashboard can be asked for: a closed list, so that the number of results that are kept for it is bounded. */
export const PERIODS = ['24h', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];

const DAY_HOURS = 24;
export const PERIOD_HOURS: Readonly<Record<Period, number>> = {
  '24h': DAY_HOURS,
  '7d': 7 * DAY_HOURS,
  '30d': 30 * DAY_HOURS,
};

/** The value of a placeholder `chain` for every chain together. */
export const EVERY_CHAIN = 'all';

/**
 * `figures`: the first row, a figure for each column, compared with the column of the same name and `_before`. `payments`: the newest payments
 * as they arrive, and the rows of its query for readers who may not list payments.
 */
export const PANEL_KINDS = ['figures', 'chart', 'table', 'text', 'payments'] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

/** Shares of the width of the grid. */
export const PANEL_WIDTHS = ['third', 'half', 'two_thirds', 'full'] as const;
export type PanelWidth = (typeof PANEL_WIDTHS)[number];

/** As the console draws them (console/chart/spec.ts). */
export const PANEL_CHARTS = ['line', 'area', 'stacked', 'bar', 'heatmap', 'scatter'] as const;
export type PanelChartKind = (typeof PANEL_CHARTS)[number];

export const DASHBOARD_PANELS_MAX = 24;
export const PANEL_TEXT_MAX_CHARS = 4_000;
/** Rows of one panel: more fit no table or chart that a person looks at. */
export const PANEL_ROWS_MAX = 5_000;

/** The owner of the dashboards and saved queries that come with the service. No organization can take this handle. */
export const DEPLOYMENT_OWNER = 'index';
