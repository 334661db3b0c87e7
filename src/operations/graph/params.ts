import { Type } from '@sinclair/typebox';
import type { Address } from '../../../core/domain/address.ts';
import { fail } from '../../../core/errors.ts';
import { counterpartyParam, type Param, quoted } from '../params.ts';

/** Parameters that only the payment graph has. */

export const GRAPH_WINDOW_MAX = 50_000;
export const GRAPH_DAYS_MAX = 90;
export const GRAPH_EDGES_DEFAULT = 1_000;
export const GRAPH_EDGES_MAX = 5_000;

export const graphWindowParam: Param<number | undefined> = {
  in: 'query',
  description: `The newest so many settlements, up to the tip: 1 to ${GRAPH_WINDOW_MAX}. Exactly one of \`window\` and \`days\` must be sent.`,
  toolText: 'The newest so many settlements.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: GRAPH_WINDOW_MAX }),
  example: 1_000,
  read: (raw, name) => (raw === undefined ? undefined : readWhole(raw, name, GRAPH_WINDOW_MAX)),
};

export const graphDaysParam: Param<number | undefined> = {
  in: 'query',
  description: `So many whole UTC days before today: 1 to ${GRAPH_DAYS_MAX}. Exactly one of \`window\` and \`days\` must be sent.`,
  toolText: 'So many whole UTC days before today.',
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: GRAPH_DAYS_MAX }),
  read: (raw, name) => (raw === undefined ? undefined : readWhole(raw, name, GRAPH_DAYS_MAX)),
};

export const maxEdgesParam: Param<number> = {
  in: 'query',
  description: `Edges shown, largest first, 1 to ${GRAPH_EDGES_MAX}. Values outside are clamped, not refused.`,
  toolText: `Largest edges shown, 1 to ${GRAPH_EDGES_MAX}. Default ${GRAPH_EDGES_DEFAULT}.`,
  required: false,
  schema: Type.Integer({ default: GRAPH_EDGES_DEFAULT }),
  read: (raw, name) => {
    if (raw === undefined) return GRAPH_EDGES_DEFAULT;
    return Math.min(Math.max(wholeOf(raw, name), 1), GRAPH_EDGES_MAX);
  },
};

export const graphWalletParam: Param<Address | undefined> = {
  ...counterpartyParam,
  description: 'Only settlements that this wallet is a party of: the graph around it.',
  toolText: 'Only settlements of this wallet.',
};

/** Refused outside its range, not clamped: a smaller window would be the answer to another question. */
function readWhole(raw: unknown, name: string, max: number): number {
  const value = wholeOf(raw, name);
  if (value >= 1 && value <= max) return value;
  throw fail('invalid_parameter', { parameter: name, detail: `${name} must be from 1 to ${max}.` });
}

function wholeOf(raw: unknown, name: string): number {
  const isWhole =
    typeof raw === 'number' ? Number.isInteger(raw) : typeof raw === 'string' && /^[+-]?\d{1,30}$/.test(raw);
  if (isWhole) return Number(raw);
  throw fail('invalid_parameter', {
    parameter: name,
    detail: `${name} must be an integer, not ${quoted(raw)}.`,
  });
}
