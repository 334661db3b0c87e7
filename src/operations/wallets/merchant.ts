import { defineOperation } from '../define.ts';
import { chainOrAllParam, finalityParam, walletParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { answerProfile } from './profile-answer.ts';
import { PROFILE_EXAMPLE, ProfileShape } from './profile-shape.ts';

export const getMerchant = defineOperation({
  id: 'getMerchant',
  method: 'GET',
  path: '/merchants/{address}',
  summary: 'What a wallet was paid, and what the figures are worth',
  description:
    'Exact totals of a wallet in both directions, judged as a payee: by chain, by day, with the share that is proven, what is left without self-payments, and signals against wash trading. On one chain unless `chain` is `all`. An unknown wallet is an answer with `coverage.known` false. Figures that come from part of the settlements say so in `basis`.',
  toolText:
    'One wallet as a payee: exact totals by chain and day, the proven share, what is left without self-payments, and signals of wash trading. coverage.known is false for a wallet that was never seen.',
  price: PRICES.keyed,
  load: 'summary',
  params: { address: walletParam, chain: chainOrAllParam, finality: finalityParam },
  output: ProfileShape,
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'none',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: PROFILE_EXAMPLE,
  run: ({ address, chain, finality }, deps) =>
    answerProfile({ wallet: address, role: 'payee', chain, finality }, deps),
});
