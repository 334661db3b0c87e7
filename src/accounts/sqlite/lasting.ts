import type { WriteRequest } from './writes.ts';

/**
 * Whether a change must be on the disk before it is answered. A hold matters only while its process lives, and one that ends without a
 * charge leaves the units where they were before it: these are committed without waiting for the disk. `kill -9` does not lose them: the
 * operating system has the bytes. A power cut may lose the last of them, and the sweeper then gives back the open holds; a change that
 * is synced has all earlier ones on disk with it, because the write-ahead log is one file that is read up to its first gap.
 */
export function isLastingChange(request: WriteRequest): boolean {
  switch (request.name) {
    case 'hold':
    case 'ping':
      return false;
    case 'capture': {
      const { units } = request.argument as WriteRequest<'capture'>['argument']; // paired with its name by `WriteRequest`
      return units > 0;
    }
    default:
      return true;
  }
}
