import { defineOperation } from '../define.ts';
import { chainOrAllParam, finalityParam, walletParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { answerProfile } from '../wallets/profile-answer.ts';
import { AGENT_PROFILE_EXAMPLE, ProfileShape } from '../wallets/profile-shape.ts';

export const getAgent = defineOperation({
  id: 'getAgent',
  method: 'GET',
  path: '/agents/{wallet}',
  summary: 'What a wallet paid, and what the figures are worth',
  description:
    'The same answer as a merchant profile, judged as a payer: signals are about the wallets that it pays. Any wallet has one; `erc8004_agents` are the agents that pay and are paid with it. An agent is found by its id on `/agents`.',
  toolText:
    'One wallet as a payer: the same profile as get_merchant, judged by the wallets that it pays, with the ERC-8004 agents that use it.',
  price: PRICES.keyed,
  params: { wallet: walletParam, chain: chainOrAllParam, finality: finalityParam },
  output: ProfileShape,
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'none',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: AGENT_PROFILE_EXAMPLE,
  run: ({ wallet, chain, finality }, deps) => answerProfile({ wallet, role: 'payer', chain, finality }, deps),
});
