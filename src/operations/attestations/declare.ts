import { Type } from '@sinclair/typebox';
import {
  agentIdParam,
  attestationClientParam,
  attestationKindParam,
  attestationTagParam,
} from '../agents/params.ts';
import { beforeParam, chainParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { finalityOf } from '../index-state/freshness.ts';
import { ListMetaShape, listMeta, META_WITHOUT_SNAPSHOT_EXAMPLE } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape } from '../shapes.ts';
import { nextBefore, readBefore, SETTLEMENT_CURSOR } from '../walk.ts';
import { readProvenPayments } from './proofs.ts';
import { readAttestationFacts, readAttestations } from './read.ts';
import { ATTESTATION_EXAMPLE, AttestationShape, attestationAnswer, proofsOf } from './shape.ts';

const SCOPE = 'listAttestations';

export const listAttestations = defineOperation({
  id: SCOPE,
  wire: {
    path: '/attestations',
    params: {
      limit: limitParam,
      before: beforeParam,
      chain: chainParam,
      agent_id: {
        ...agentIdParam,
        description:
          'Only entries about agents with this id. Ids are counted on each chain by itself: one agent is named together with `chain`.',
        toolText: 'About this agent; name its chain.',
      },
      client: attestationClientParam,
      tag: attestationTagParam,
      kind: attestationKindParam,
    },
    output: Type.Object({
      attestations: Type.Array(AttestationShape),
      next_before: NextBeforeShape,
      meta: ListMetaShape,
    }),
    paging: 'before',
    caching: 'revalidate',
  },
  words: {
    summary: 'ERC-8004 feedback, responses, revocations and validations, newest first',
    description:
      'What the reputation and validation registries have logged about agents, newest first; send `next_before` back as `before` for older ones, also after a page that is shorter than `limit`. Filters may be changed along a walk. Anyone may write these: values are on the scale of their tag (`is_rating`, `tag_score`), and tags, endpoints and files are claims, made safe to show. `proof_of_payment` is the payment that the file of a feedback names, checked against the settlements of this index.',
    tool: 'ERC-8004 feedback, responses, revocations and validations, newest first. Anyone can write them: values and tags are claims. proof_of_payment says whether the payment that a feedback names is in this index.',
    example: {
      attestations: [ATTESTATION_EXAMPLE],
      next_before: null,
      meta: META_WITHOUT_SNAPSHOT_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async (
    input,
    { reader, clock, cursorKeys, deployment: { chains }, index: { dataset, freshness } },
  ) => {
    const { limit, chain, agent_id: agentId, client, tag, kind } = input;
    const nowMs = clock.nowMs();
    const [statuses, page] = await Promise.all([
      freshness.statuses(),
      readAttestations(reader, {
        limit,
        before: input.before,
        chains: chain === undefined ? chains : [chain],
        agentId,
        client,
        tag,
        kind,
      }),
    ]);
    const facts = await readAttestationFacts(reader, page.rows);
    const payments = await readProvenPayments(reader, proofsOf(page.rows, facts));
    return {
      attestations: page.rows.map((row) => {
        const finality = finalityOf(row.blockNumber, statuses.get(row.chain));
        return attestationAnswer(row, { facts, payments, finality });
      }),
      next_before: nextBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, page.nextBefore),
      meta: await listMeta({ chain, chains, statuses, nowMs }, page.rows, dataset.attestations),
    };
  },
});
