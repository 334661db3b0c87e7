import { OTHER_STORAGE, PLAN_STORAGE, type PlanStorage } from '../../core/domain/job.ts';
import type { PlanId } from '../../core/domain/plan.ts';
import { askFiles, type ResultFiles } from './result-files.ts';

/**
 * Where kept results may lie: each has an owner whose oldest ones make room for its new ones, and all of them together have a bound.
 * Addresses cost nothing, so results that no organization asked for itself are kept only while all take less than half of it.
 */
export type RoomOwner =
  | { readonly kind: 'organization'; readonly id: string; readonly plan: PlanId }
  /** The author of a saved query that another caller made run. */
  | { readonly kind: 'author'; readonly id: string }
  /** A caller without an organization: the address that paid, or the caller's name. */
  | { readonly kind: 'payer'; readonly id: string };

export interface RoomLimits {
  /** Of all files. */
  readonly bytesMax: number;
  /** Of the disk, that stays free. */
  readonly freeBytesMin: number;
}

const OTHERS_SHARE = 0.5;

/** Under which the store lists the results of an owner. Ids of organizations have no colon. */
export function ownerIdOf({ kind, id }: RoomOwner): string {
  return kind === 'organization' ? id : `${kind}:${id}`;
}

export function storageOf(owner: RoomOwner): Pick<PlanStorage, 'results' | 'resultBytes'> {
  return owner.kind === 'organization' ? PLAN_STORAGE[owner.plan] : OTHER_STORAGE[owner.kind];
}

export interface Room {
  /** Whether a file of this size may be written for the owner now. */
  has(bytes: number, owner: RoomOwner): Promise<boolean>;
  /** The files are looked at anew the next time. */
  forget(): void;
}

/** Listing all files takes a tenth of a second; in between, this process counts what it lets in. */
const MEASURED_MS = 10_000;

export function createRoom(files: Pick<ResultFiles, 'room'>, limits: RoomLimits): Room {
  let measured: { usedBytes: number; freeBytes: number; readonly untilMs: number } | null = null;
  const now = async () => {
    if (measured !== null && measured.untilMs > performance.now()) return measured;
    const { usedBytes, freeBytes } = await askFiles(files.room());
    measured = {
      usedBytes,
      freeBytes: freeBytes ?? Number.POSITIVE_INFINITY,
      untilMs: performance.now() + MEASURED_MS,
    };
    return measured;
  };
  return {
    async has(bytes, owner) {
      const room = await now();
      const bytesMax = owner.kind === 'organization' ? limits.bytesMax : limits.bytesMax * OTHERS_SHARE;
      if (bytes > storageOf(owner).resultBytes) return false;
      if (room.usedBytes + bytes > bytesMax || room.freeBytes - bytes < limits.freeBytesMin) return false;
      room.usedBytes += bytes;
      room.freeBytes -= bytes;
      return true;
    },
    forget() {
      measured = null;
    },
  };
}
