import { address } from '../../core/domain/address.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { RawLog } from '../chain/block-source.ts';
import { MalformedData } from './abi-data.ts';

/** What decoding the logs of all registries shares. */

export const ZERO_ADDRESS = address(`0x${'0'.repeat(40)}`);
export const ZERO_HASH: Hash = `0x${'0'.repeat(64)}`;

type Indexed<Count extends 2 | 3> = Count extends 2 ? readonly [Hash, Hash] : readonly [Hash, Hash, Hash];

/** The indexed words of an event, of which there must be exactly so many. Throws `MalformedData`. */
export function requireTopics<Count extends 2 | 3>({ topics }: RawLog, count: Count): Indexed<Count> {
  if (topics.length !== count + 1) throw new MalformedData(`${topics.length} topics instead of ${count + 1}`);
  return topics.slice(1) as unknown as Indexed<Count>; // counted just now
}
