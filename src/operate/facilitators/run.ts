import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Value } from '@sinclair/typebox/value';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { publicFacts } from '../../../clickhouse/guest/views/facts.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import type { Proposal } from '../../../clickhouse/tables/proposals.ts';
import { commandText } from '../../../core/command-text.ts';
import { FacilitatorSchema, readCatalogueFile } from '../../../core/config/catalogue.ts';
import { resolveAddress, resolveChainName } from '../../../core/config/chains.ts';
import { readJsonObject } from '../../../core/config/checked-file.ts';
import type { Config } from '../../../core/config/config.ts';
import { configProblems } from '../../../core/config/problem.ts';
import type { Address } from '../../../core/domain/account.ts';
import { addressKey, type Chain, namespaceOf } from '../../../core/domain/chains.ts';
import { PROPOSAL_DAYS } from '../../../core/domain/relayer-proposal.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { dayOf, loadAccepted, readProposals, saveDecisions } from '../../../ingest/proposals/decisions.ts';
import { createVersions, highestVersion } from '../../../ingest/write/versions.ts';
import type { FacilitatorOrder } from './command.ts';

/** `facilitators …`: what operators do with proposed relayers. */

export interface FacilitatorCommandDeps {
  readonly config: Pick<Config, 'catalogue' | 'chains'>;
  readonly access: EngineAccess;
  readonly log: Log;
  say(line: string): void;
}

type Deps = Omit<FacilitatorCommandDeps, 'access' | 'log'> & { readonly writer: Writer };

/** Throws `UserError` for what the operator must correct. */
export async function facilitators(
  { access, log, ...deps }: FacilitatorCommandDeps,
  order: FacilitatorOrder,
): Promise<void> {
  await migrate(access, log, { facts: publicFacts(deps.config) });
  const writer = createWriter(access, log);
  try {
    const own = { ...deps, writer };
    if (order.do === 'review') await review(own, order.isJson);
    else if (order.do === 'accept') await accept(own, relayerOf(order), order.id);
    else await refuse(own, relayerOf(order));
  } finally {
    await writer.close();
  }
}

interface Relayer {
  readonly chain: Chain;
  readonly address: Address;
}

function relayerOf(given: { readonly chain: string; readonly address: string }): Relayer {
  const problems: string[] = [];
  const chain = resolveChainName(given.chain, 'chain', problems);
  const address = resolveAddress(given.address, 'address', problems, namespaceOf(chain));
  if (problems.length > 0) throw configProblems(problems);
  return { chain, address };
}

async function review({ config, writer, say }: Deps, isJson: boolean): Promise<void> {
  const proposals = await readProposals(writer);
  if (isJson) return say(JSON.stringify({ proposals }));
  const accepted = new Set((await loadAccepted(writer, config.catalogue)).map(addressKey));
  if (proposals.length === 0) say('no relayer is proposed');
  for (const proposal of proposals)
    for (const line of proposalLines(proposal, accepted.has(addressKey(proposal)))) say(line);
  if (proposals.length > 0)
    say(`\nTo name one: ${commandText('facilitators accept <chain> <address> <id>')}`);
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

function proposalLines(proposal: Proposal, isAccepted: boolean): string[] {
  const { settlementCount, relayedCount, payerCount, payerSpread, payeeCount } = proposal;
  const { sharedPayerCount, sharedPayeeCount, sharedSettlementCount, sharedWith, supportedBy, fundedWith } =
    proposal;
  return [
    `${proposal.chain} ${proposal.address}  score ${proposal.score.toFixed(2)}${isAccepted ? ', accepted by the service' : ''}`,
    `  ${counted(settlementCount, 'payment')} in ${PROPOSAL_DAYS} days, ${relayedCount.toLocaleString('en')} of them relayed for others`,
    `  ${counted(payerCount, 'payer')}, as many as ${payerSpread.toFixed(1)} of equal size; ${sharedPayerCount} of them also pay through named facilitators`,
    `  ${counted(payeeCount, 'payee')}; ${sharedPayeeCount} of them (${counted(sharedSettlementCount, 'payment')}) also paid through ${sharedWith.join(', ') || 'no named facilitator'}`,
    ...(supportedBy.length === 0 ? [] : [`  listed in /supported of ${supportedBy.join(', ')}`]),
    ...(fundedWith === ''
      ? []
      : [`  its first gas money came from the account that funds relayers of ${fundedWith}`]),
    `  first payment ${dayOf(proposal.firstSeen)}, newest ${dayOf(proposal.lastSeen)}`,
  ];
}

/** The entry counts from the day of the relayer's first payment. */
async function accept(deps: Deps, relayer: Relayer, id: string): Promise<void> {
  const { config, writer, say } = deps;
  if (!Value.Check(FacilitatorSchema.properties.id, id))
    throw new UserError(`'${id}' is no id of a facilitator: up to 64 letters, digits, - and _`);
  const proposal = (await readProposals(writer)).find((one) => addressKey(one) === addressKey(relayer));
  if (proposal === undefined)
    throw new UserError(
      `${addressKey(relayer)} is not proposed, or refused or named already: ${commandText('facilitators review')}`,
    );
  const entry = { ...relayer, firstSeen: dayOf(proposal.firstSeen) };
  const { file } = config.catalogue;
  if (file === null) {
    say('There is no catalogue.file. Add this to the configuration:');
    say(JSON.stringify({ catalogue: { facilitators: [{ id, relayers: [entry] }] } }, null, 2));
    return;
  }
  addToFile(file, id, entry, config);
  say(`${addressKey(relayer)} is a relayer of ${id} in ${file}, from ${entry.firstSeen} on.`);
  say(`A running service follows within seconds; without one: ${commandText('regrade')}`);
}

type Entry = Relayer & { readonly firstSeen: string };

/** Replaces the file at once, so that a running service never reads half of it, and only by one that it can use. */
function addToFile(path: string, id: string, entry: Entry, config: Deps['config']): void {
  const whole = readJsonObject(path);
  const before: unknown[] = Array.isArray(whole['facilitators']) ? whole['facilitators'] : [];
  const isOfId = (one: unknown): one is { readonly id: string; readonly relayers?: readonly unknown[] } =>
    typeof one === 'object' && one !== null && 'id' in one && one.id === id;
  const added = before.some(isOfId)
    ? before.map((one) => (isOfId(one) ? { ...one, relayers: [...(one.relayers ?? []), entry] } : one))
    : [...before, { id, relayers: [entry] }];
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify({ ...whole, facilitators: added }, null, 2)}\n`);
  try {
    buildCatalogue(config.catalogue, { file: readCatalogueFile(draft) });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

async function refuse({ writer, say }: Deps, relayer: Relayer): Promise<void> {
  const proposal = (await readProposals(writer)).find((one) => addressKey(one) === addressKey(relayer));
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const decision = { ...relayer, decision: 'refused' as const, score: proposal?.score ?? 0 };
  const ver = createVersions(await highestVersion(writer)).next();
  const firstSeen = dayOf(proposal?.firstSeen ?? nowSeconds);
  await saveDecisions(writer, [{ ...decision, firstSeen, decidedAt: nowSeconds }], ver);
  say(`${addressKey(relayer)} is proposed no more.`);
}
