/**
 * How many rows the joins of a query make, from the engine's plan. A join without equal columns makes the product of its sides. One with
 * equal columns makes as many as its larger side where each row finds one partner, and the product where every row finds all.
 */
export interface JoinedRows {
  /** As many as the larger side of each join with equal columns; infinite where a side is not bounded. */
  readonly rowsJoined: number;
  /** At most. */
  readonly rowsJoinedMax: number;
  /** By joins without equal columns alone: those make their product. */
  readonly rowsCrossed: number;
}

/** What a plan makes and holds. */
export interface PlannedWork extends JoinedRows {
  /** What an operator that cannot go on disk holds in memory, by the rows that it is likely to get: the largest one. */
  readonly heldBytes: number;
}

export interface TableSizes {
  /** Rows of one read of a table. */
  rowsOf(table: string): number;
  /** Of a value of a type in memory. */
  bytesOf(type: string): number;
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
  readonly heldBytes: number;
}

export function plannedWork(roots: readonly PlanNode[], sizes: TableSizes): PlannedWork {
  const { joined, heldBytes } = sumOf(roots.map((root) => flowOf(root, sizes)));
  return { ...joined, heldBytes };
}

function flowOf(node: PlanNode, sizes: TableSizes): Flow {
  const plans = nodesOf(node['Plans']);
  const below = plans.map((one) => flowOf(one, sizes));
  const type = String(node['Node Type']);
  const widthOf = (plan: PlanNode | undefined): number => rowBytes(plan, sizes);
  if (type === 'Join' && below.length === SIDES) return joinOf(node, below, widthOf(plans[1]));
  const rows = below.length === 0 ? ownRows(node, type, sizes.rowsOf) : null;
  const flow = rows === null ? sumOf(below) : { likely: rows, most: rows, joined: NONE, heldBytes: 0 };
  // A view joins by its keys, and what it makes of them is no choice of the caller.
  if (OF_A_VIEW.test(String(node['Description'])))
    return { ...flow, most: flow.likely, joined: NONE, heldBytes: 0 };
  const held = flow.likely * heldPerRow(node, type, widthOf(plans[0]));
  if (held > flow.heldBytes) return { ...flow, heldBytes: held };
  const limit = node['Limit'];
  if (type !== 'Limit' || typeof limit !== 'number') return flow;
  return { ...flow, likely: Math.min(flow.likely, limit), most: Math.min(flow.most, limit) };
}

const SIDES = 2;
const OF_A_VIEW = /Convert VIEW subquery result/;
const NONE: JoinedRows = { rowsJoined: 0, rowsJoinedMax: 0, rowsCrossed: 0 };

function rowBytes(plan: PlanNode | undefined, { bytesOf }: TableSizes): number {
  const header = Array.isArray(plan?.['Header']) ? (plan['Header'] as PlanNode[]) : []; // JSON that the engine wrote
  return header.reduce((sum, column) => sum + bytesOf(String(column['Type'])), 0);
}

/** A set keeps a hash of 16 bytes in a table that is a quarter to a half full. */
const SET_ENTRY_BYTES = 48;
const COUNTS_VALUES = /^(uniqexact|countdistinct)/i;
const KEEPS_VALUES = /^(group(array|uniqarray|concat)|quantiles?exact|medianexact)/i;

/** What an operator that cannot go on disk keeps of each row; of groups the engine does so. */
function heldPerRow(node: PlanNode, type: string, width: number): number {
  if (type === 'Distinct') return SET_ENTRY_BYTES;
  if (type === 'Window') return isEmpty(node['Partition By']) ? width : 0;
  if (type !== 'Aggregating' || !isEmpty(node['Keys'])) return 0;
  const called = Array.isArray(node['Aggregates']) ? (node['Aggregates'] as PlanNode[]) : []; // JSON that the engine wrote
  return called.reduce((sum, { Name: name }) => {
    if (COUNTS_VALUES.test(String(name))) return sum + SET_ENTRY_BYTES;
    return KEEPS_VALUES.test(String(name)) ? sum + width : sum;
  }, 0);
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}

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
      rowsCrossed: sum(({ joined }) => joined.rowsCrossed),
    },
    heldBytes: Math.max(0, ...flows.map(({ heldBytes }) => heldBytes)),
  };
}

/** Joins that give a row of one side at most once. */
const ONCE = /^(any|semi|anti|asof|rightany)$/i;

/** Joins whose right side stays in memory: those without equal columns, and that of the nearest row. `rightBytes`: of one of its rows. */
function joinOf(node: PlanNode, sides: readonly Flow[], rightBytes: number): Flow {
  const { joined, heldBytes } = sumOf(sides);
  const product = (of: (flow: Flow) => number): number =>
    sides.reduce((total, flow) => total * Math.max(1, of(flow)), 1);
  const larger = (of: (flow: Flow) => number): number => Math.max(...sides.map(of));
  const isEqual = /=/.test(String(node['Clauses'] ?? ''));
  const isOnce = isEqual && ONCE.test(String(node['Strictness'] ?? ''));
  const likely = isEqual ? larger((flow) => flow.likely) : product((flow) => flow.likely);
  const most = isOnce ? larger((flow) => flow.most) : product((flow) => flow.most);
  const isHeld = !isEqual || /asof/i.test(String(node['Strictness'] ?? ''));
  return {
    likely,
    most,
    joined: {
      rowsJoined: joined.rowsJoined + likely,
      rowsJoinedMax: joined.rowsJoinedMax + most,
      rowsCrossed: joined.rowsCrossed + (isEqual ? 0 : likely),
    },
    heldBytes: Math.max(heldBytes, isHeld ? (sides[1]?.likely ?? 0) * rightBytes : 0),
  };
}
