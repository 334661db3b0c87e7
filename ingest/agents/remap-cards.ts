import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import { TABLES } from '../../clickhouse/tables/schema.ts';
import type { AgentService } from '../../core/domain/agent-card.ts';
import { CAPABILITY_RULE_VERSION } from '../../core/domain/capability.ts';
import { isChain } from '../../core/domain/chain.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { CARD_COLUMNS, type CardRow, encodeCards, readStoredCard } from './card-row.ts';
import { STORED_CARD } from './due-cards.ts';
import { cardCapabilities } from './fetch-card.ts';

const CARDS_PER_BATCH = 1_000;
const MAX_SECONDS = 60;

/**
 * Maps the cards that were mapped by another rule onto capabilities anew, from what is stored. Before any card is fetched, so
 * that nobody else writes their rows. Returns how many.
 */
export async function remapCards(deps: {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<number> {
  const { writer, versions, log, signal } = deps;
  for (let remapped = 0; ; ) {
    const rows = await untilAcknowledged(log, signal, () => readOutdated(writer));
    if (rows.length === 0) {
      if (remapped > 0)
        log.info({ cards: remapped, rule: CAPABILITY_RULE_VERSION }, 'cards mapped by the new rule');
      return remapped;
    }
    await untilAcknowledged(log, signal, () =>
      writer.insert('cards-remap', TABLES.agentCards, CARD_COLUMNS, [
        encodeCards(rows.map(remap), versions.next()),
      ]),
    );
    remapped += rows.length;
  }
}

async function readOutdated(writer: Writer): Promise<readonly CardRow[]> {
  const outdated = sql`(SELECT chain, agent_id FROM agent_cards FINAL
    WHERE good_at != 0 AND del = 0 AND rule_version != ${uint32(CAPABILITY_RULE_VERSION)} LIMIT ${uint32(CARDS_PER_BATCH)})`;
  const { rows } = await writer.rows({
    name: 'cards-outdated',
    sql: sql`SELECT chain, toString(agent_id), uri, toString(status), problem, failures,
        toUnixTimestamp(tried_at), toUnixTimestamp(next_try_at), ${STORED_CARD}
      FROM (SELECT * FROM agent_cards FINAL WHERE (chain, agent_id) IN ${outdated}) AS c`,
    maxSeconds: MAX_SECONDS,
    maxRows: CARDS_PER_BATCH,
  });
  return rows.flatMap(readRow);
}

function readRow(row: readonly unknown[]): CardRow[] {
  const [chain, agentId, uri, status, problem, failures, triedAt, nextTryAt, ...stored] = row;
  if (typeof chain !== 'string' || !isChain(chain)) return [];
  return [
    {
      chain,
      agentId: BigInt(String(agentId)),
      uri: String(uri),
      status: status === 'good' ? 'good' : 'failed',
      problem: String(problem),
      failures: Number(failures),
      triedAt: Number(triedAt),
      nextTryAt: Number(nextTryAt),
      card: readStoredCard(stored),
    },
  ];
}

function remap(row: CardRow): CardRow {
  const services: AgentService[] = JSON.parse(row.card.services); // ours: written by encodeCards
  const capabilities = cardCapabilities({ ...row.card, services });
  return { ...row, card: { ...row.card, capabilities, ruleVersion: CAPABILITY_RULE_VERSION } };
}
