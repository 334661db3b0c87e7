/**
 * How many rows the joins of a query make, from the engine's plan. A join without equal columns makes the product of its sides. One with
 * equal columns makes as many as its larger side where each row finds one partner, and the product where every row finds all.
 */
export interface JoinedRows {
  /** As many as the larger side of each join with equal columns; infinite where a side is not bounded. */
  readonly rowsJoined: number;
  /** At most. */
  readonly rowsJoinedMax: number;
}

/** A step of the plan as the engine writes it in JSON. */
export type PlanNode = Readonly<Record<string, unknown>>;

export function nodesOf(plan: unknown): PlanNode[] {
  if (Array.isArray(plan)) return plan.flatMap(nodesOf);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as PlanNode; // JSON that the engine wrote
  return node['Plan'] === undefined ? [node] : nodesOf(node['Plan']);
}

/**
 * Rows of one read of each table: EXPLAIN ESTIMATE adds all reads of a table up. The product of averages is no less than that of the reads
 * themselves.
 */
export function averageRows(
  rows: ReadonlyMap<string, number>,
  readings: readonly { readonly table: string }[],
): (table: string) => number {
  const times = new Map<string, number>();
  for (const { table } of readings) times.set(table, (times.get(table) ?? 0) + 1);
  return (table) => (rows.get(table) ?? 0) / (times.get(table) ?? 1);
}

/** Stands for the name of a table that is sent with the query, which the plan does not name. */
export const ATTACHED = '';

/** Rows that a step gives, and those that the joins below it and it itself make. */
interface Flow {
  readonly likely: number;
  readonly most: number;
  readonly joined: JoinedRows;
}

export function joinedRows(roots: readonly PlanNode[], rowsOf: (table: string) => number): JoinedRows {
  return sumOf(roots.map((root) => flowOf(root, rowsOf))).joined;
}

function flowOf(node: PlanNode, rowsOf: (table: string) => number): Flow {
  const below = nodesOf(node['Plans']).map((one) => flowOf(one, rowsOf));
  const type = String(node['Node Type']);
  if (type === 'Join' && below.length === SIDES) return joinOf(node, below);
  const rows = below.length === 0 ? ownRows(node, type, rowsOf) : null;
  const flow = rows === null ? sumOf(below) : { likely: rows, most: rows, joined: NONE };
  // A view joins by its keys, and what it makes of them is no choice of the caller.
  if (OF_A_VIEW.test(String(node['Description']))) return { ...flow, most: flow.likely, joined: NONE };
  const limit = node['Limit'];
  if (type !== 'Limit' || typeof limit !== 'number') return flow;
  return { ...flow, likely: Math.min(flow.likely, limit), most: Math.min(flow.most, limit) };
}

const SIDES = 2;
const OF_A_VIEW = /Convert VIEW subquery result/;
const NONE: JoinedRows = { rowsJoined: 0, rowsJoinedMax: 0 };

/** A source that makes rows by itself does not say how many. */
function ownRows(node: PlanNode, type: string, rowsOf: (table: string) => number): number {
  if (type === 'ReadFromMergeTree') return rowsOf(String(node['Description']).split('.').at(-1) ?? '');
  if (type === 'ReadFromMemoryStorage') return rowsOf(ATTACHED);
  if (type === 'ReadNothing') return 0;
  return type === 'ReadFromSystemNumbers' ? Number.POSITIVE_INFINITY : 1;
}

function sumOf(flows: readonly Flow[]): Flow {
  const sum = (of: (flow: Flow) => number): number => flows.reduce((total, flow) => total + of(flow), 0);
  return {
    likely: sum(({ likely }) => likely),
    most: sum(({ most }) => most),
    joined: {
      rowsJoined: sum(({ joined }) => joined.rowsJoined),
      rowsJoinedMax: sum(({ joined }) => joined.rowsJoinedMax),
    },
  };
}

/** Joins that give a row of one side at most once. */
const ONCE = /^(any|semi|anti|asof|rightany)$/i;

function joinOf(node: PlanNode, sides: readonly Flow[]): Flow {
  const { joined } = sumOf(sides);
  const product = (of: (flow: Flow) => number): number =>
    sides.reduce((total, flow) => total * Math.max(1, of(flow)), 1);
  const larger = (of: (flow: Flow) => number): number => Math.max(...sides.map(of));
  const isEqual = /=/.test(String(node['Clauses'] ?? ''));
  const isOnce = isEqual && ONCE.test(String(node['Strictness'] ?? ''));
  const likely = isEqual ? larger((flow) => flow.likely) : product((flow) => flow.likely);
  const most = isOnce ? larger((flow) => flow.most) : product((flow) => flow.most);
  return {
    likely,
    most,
    joined: { rowsJoined: joined.rowsJoined + likely, rowsJoinedMax: joined.rowsJoinedMax + most },
  };
}
