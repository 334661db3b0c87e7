import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const RANDOM_CHARS = 8;

/** A name for this process and this start of it, by which an operator can find it too. */
export function ownerName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, RANDOM_CHARS)}`;
}
