import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the garbage of requests young, for the whole process. V8 allocates among the old objects what used to outlive a
 * collection of young ones. While the young space is still small (1 MiB at the start, less than some dozens of requests hold) that is
 * everything a request makes, and the decision stays: each dead request among the old then keeps the young objects that it refers to
 * until the next full collection. Measured on /v0/account with 64 connections: a sixth of the time was spent on collections, and
 * a request took 39 µs instead of 26 µs.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
