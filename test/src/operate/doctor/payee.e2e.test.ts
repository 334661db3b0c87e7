import { expect, onTestFinished, test } from 'vitest';
import { address } from '../../../../core/domain/account.ts';
import { checkPayee } from '../../../../src/operate/doctor/chains.ts';
import { acceptedOnSolana } from '../../../kit/solana-lane.ts';
import { startSolanaWorld } from '../../../kit/solana-world.ts';

test('a payee on Solana without a token account is a failure, and one with it is not; a node that is down says nothing', async () => {
  const { node, payee, facilitator, stop } = await startSolanaWorld();
  onTestFinished(stop);
  const verdicts = async (payTo: string, url = node.url) =>
    (await checkPayee(acceptedOnSolana(url, address(payTo)))).map(({ verdict }) => verdict);
  expect(await verdicts(payee)).toEqual(['ok']);
  expect(await verdicts(facilitator.address)).toEqual(['failure']);
  expect(await verdicts(payee, 'http://127.0.0.1:1')).toEqual([]);
});
