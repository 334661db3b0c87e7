/**
 * Work that is the same for all who want it is done once for those who ask while it is under way. Of whole answers, not of statements: an
 * answer reads in an order that makes it right (the horizon before the rows), and a statement that another caller began earlier would break it.
 * What differs by caller stays outside: rate limits, holds and charges.
 */
export interface Sharing {
  /**
   * The result of `begin`, or of the same work that another caller began. `name` says everything that the result depends on. `left` aborts
   * when this caller leaves, which rejects for it alone; the signal of the work aborts when all of its callers have left. The signal is
   * made when the work first asks for it, because an answer from memory needs none.
   */
  join<Result>(
    name: string,
    begin: (stopped: () => AbortSignal) => Promise<Result>,
    left?: AbortSignal,
  ): Promise<Result>;
}

interface Work {
  readonly result: Promise<unknown>;
  readonly startedMs: number;
  readonly stop: LateSignal;
  callers: number;
}

/** `joinMaxMs`: work that began earlier is not joined, so no caller gets a result that is older than that when it asks. */
export function createSharing({ joinMaxMs }: { readonly joinMaxMs: number }): Sharing {
  const underWay = new Map<string, Work>();
  const end = (name: string, work: Work): void => {
    if (underWay.get(name) === work) underWay.delete(name);
  };
  const start = (name: string, begin: (stopped: () => AbortSignal) => Promise<unknown>): Work => {
    const stop = new LateSignal();
    const work: Work = { result: begin(() => stop.signal()), startedMs: performance.now(), stop, callers: 0 };
    const ended = (): void => end(name, work);
    work.result.then(ended, ended);
    underWay.set(name, work);
    return work;
  };
  return {
    join<Result>(name: string, begin: (stopped: () => AbortSignal) => Promise<Result>, left?: AbortSignal) {
      const known = underWay.get(name);
      const isYoung = known !== undefined && performance.now() - known.startedMs <= joinMaxMs;
      const work = isYoung ? known : start(name, begin);
      work.callers += 1;
      const result = work.result as Promise<Result>; // work under one name has one type of result
      if (left === undefined) return result;
      return untilLeft(result, left, () => {
        work.callers -= 1;
        if (work.callers > 0) return;
        end(name, work);
        work.stop.abort();
      });
    },
  };
}

/** A signal that is made when it is first asked for; also after it was aborted. */
class LateSignal {
  private controller: AbortController | undefined;
  private isAborted = false;

  signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isAborted) this.controller.abort();
    return this.controller.signal;
  }

  abort(): void {
    this.isAborted = true;
    this.controller?.abort();
  }
}

/** The result, unless the caller leaves before; then rejects with the reason. */
function untilLeft<Result>(result: Promise<Result>, left: AbortSignal, leave: () => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onLeft = (): void => {
      leave();
      reject(left.reason);
    };
    if (left.aborted) {
      onLeft();
      return;
    }
    left.addEventListener('abort', onLeft, { once: true });
    const stay = (): void => left.removeEventListener('abort', onLeft);
    result.then(
      (value) => {
        stay();
        resolve(value);
      },
      (error: unknown) => {
        stay();
        reject(error);
      },
    );
  });
}
