import type { Reader } from '../../clickhouse/engine.ts';
import { sql, uint32 } from '../../clickhouse/sql.ts';
import type { Clock } from '../clock.ts';
import type { Address } from '../domain/address.ts';
import type { Chain } from '../domain/chain.ts';
import { ask } from './ask.ts';
import { cached } from './cached.ts';
import { textField } from './decode.ts';

/** Display names from the catalogues, whole in memory: a page looks up two hundred, and they change a few times a day. */
export interface Names {
  directory(): Promise<Directory>;
}

export interface Directory {
  /** Null when unknown. */
  facilitatorName(id: string): string | null;
  walletName(chain: Chain, wallet: Address): string | null;
}

const RESOURCE = 'display names';
const MAX_AGE_MS = 10_000;
const MAX_SECONDS = 5;
const FACILITATORS_MAX = 10_000;
/** About 15 MB; names beyond are shown as null. */
const WALLETS_MAX = 100_000;

export function createNames(deps: { readonly reader: Reader; readonly clock: Clock }): Names {
  return {
    directory: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readDirectory(deps.reader) }),
  };
}

async function readDirectory(reader: Reader): Promise<Directory> {
  const [facilitators, wallets] = await Promise.all([readFacilitators(reader), readWallets(reader)]);
  return {
    facilitatorName: (id) => facilitators.get(id) ?? null,
    walletName: (chain, wallet) => wallets.get(`${chain} ${wallet}`) ?? null,
  };
}

async function readFacilitators(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'facilitator-names',
    maxSeconds: MAX_SECONDS,
    maxRows: FACILITATORS_MAX,
    sql: sql`SELECT facilitator, max(facilitator_name) FROM (SELECT * FROM facilitator_relayers FINAL)
      WHERE del = 0 AND facilitator_name != '' GROUP BY facilitator ORDER BY facilitator LIMIT ${uint32(FACILITATORS_MAX)}`,
  });
  return new Map(rows.map((row) => [textField(row[0]), textField(row[1])]));
}

async function readWallets(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'wallet-names',
    maxSeconds: MAX_SECONDS,
    maxRows: WALLETS_MAX,
    sql: sql`SELECT chain, lower(hex(address)), name FROM (SELECT * FROM catalogued_payees FINAL)
      WHERE del = 0 AND name != '' ORDER BY chain, address LIMIT ${uint32(WALLETS_MAX)}`,
  });
  return new Map(rows.map((row) => [`${textField(row[0])} 0x${textField(row[1])}`, textField(row[2])]));
}
