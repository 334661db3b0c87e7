import type { UnitStore } from '../unit-store.ts';
import { isBusy, openWithoutWaiting } from './database.ts';
import { isLastingChange } from './lasting.ts';
import { type UnitWrites, unitWrites } from './unit-writes.ts';
import type { WriteQueue } from './write-queue.ts';

/** The two changes of a metered call. */
export interface UnitChanges extends Pick<UnitStore, 'hold' | 'capture'> {
  close(): void;
}

/**
 * Makes holds and captures. Of those that need not be on the disk (lasting.ts), the first of each turn of the event loop is committed by
 * the calling thread: nothing waits for the disk, and waking the other thread takes longer than the commit. The others of a crowd join
 * the next batch, and so do all while the writing thread or another process has the lock. So does the first of this store, because
 * the queue checks the file, and any that fails here, because the queue knows what the failure means.
 */
export function createUnitChanges(path: string, queue: WriteQueue): UnitChanges {
  let open: { readonly db: ReturnType<typeof openWithoutWaiting>; readonly writes: UnitWrites } | undefined;
  let isChecked = false;
  let isTurnTaken = false;
  const takeTurn = (): boolean => {
    if (isTurnTaken || !isChecked || !queue.isIdle()) return false;
    isTurnTaken = true;
    setImmediate(() => {
      isTurnTaken = false;
    });
    return true;
  };
  const drop = (): void => {
    open?.db.close();
    open = undefined;
  };
  const commitNow = <Answer>(change: (writes: UnitWrites) => Answer): Answer | null => {
    try {
      if (open === undefined) {
        const db = openWithoutWaiting(path);
        open = { db, writes: unitWrites(db) };
      }
      open.db.exec('BEGIN IMMEDIATE');
      const answer = change(open.writes);
      open.db.exec('COMMIT');
      return answer;
    } catch (error) {
      if (open?.db.inTransaction) open.db.exec('ROLLBACK');
      if (!isBusy(error)) drop();
      return null;
    }
  };
  return {
    hold: async (hold) => {
      const answer = takeTurn() ? commitNow((writes) => writes.hold(hold)) : null;
      if (answer !== null) return answer;
      const queued = await queue.write('hold', hold);
      isChecked = true;
      return queued;
    },
    capture: async (capture) => {
      const mayBeNow = !isLastingChange({ name: 'capture', argument: capture });
      const answer = mayBeNow && takeTurn() ? commitNow((writes) => writes.capture(capture)) : null;
      return answer ?? queue.write('capture', capture);
    },
    close: drop,
  };
}
