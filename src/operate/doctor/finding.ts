/** The checks of the doctor, in the order of its report. */
export const CHECKS = {
  node: 'Version of Node',
  configuration: 'Configuration',
  disk: 'Free space',
  engine: 'Engine',
  engine_version: 'Engine version',
  guest: 'Guest user of callers’ SQL',
  sql: 'SQL of callers',
  walls: 'Walls around the engine',
  files: 'Files that SQL can read',
  clock: 'Clocks',
  rpc: 'RPC URLs',
  token: 'Tokens',
  payee: 'Accounts that calls are paid to',
  index: 'Index',
  control_store: 'Control store',
  ledger: 'Ledger of units',
  visitor_key: 'Key lent to visitors',
} as const;

export type CheckId = keyof typeof CHECKS;

/** `skipped`: it could not be checked, for a reason that another finding names or that is outside of the service. */
export type CheckOutcome = 'ok' | 'warning' | 'failure' | 'skipped';

export interface Finding {
  readonly check: CheckId;
  readonly verdict: CheckOutcome;
  /** Contains no password, key or URL; of an RPC URL only its host. */
  readonly says: string;
  /** What to do about it; null where nothing is to be done. */
  readonly remedy: string | null;
}

export function ok(check: CheckId, says: string): Finding {
  return { check, verdict: 'ok', says, remedy: null };
}

export function skipped(check: CheckId, says: string): Finding {
  return { check, verdict: 'skipped', says, remedy: null };
}

export function warning(check: CheckId, says: string, remedy: string): Finding {
  return { check, verdict: 'warning', says, remedy };
}

export function failure(check: CheckId, says: string, remedy: string): Finding {
  return { check, verdict: 'failure', says, remedy };
}
