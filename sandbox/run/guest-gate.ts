import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';
import { type GuestFacts, GuestUnfit } from './guest-check.ts';

/** Nothing is judged or run before the guest has passed its check, nor after the engine was gone until it has passed again. */
export interface GuestGate {
  /** Rejects with `EngineError` while the check does not pass. */
  facts(): Promise<GuestFacts>;
  /** Does `work` behind the gate. An engine that could not be reached may come back as another one: it is checked anew. */
  pass<Result>(work: (facts: GuestFacts) => Promise<Result>): Promise<Result>;
}

export interface GuestGateDeps {
  check(): Promise<GuestFacts>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Between two checks while it does not pass. */
  readonly retryAfterMs: number;
}

export function createGuestGate({ check, log, retryAfterMs }: GuestGateDeps): GuestGate {
  let passed: Promise<GuestFacts> | undefined;
  let said: string | undefined;
  const tell = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    if (message === said) return;
    said = message;
    if (error instanceof GuestUnfit) log.error({ err: error }, 'SQL of callers is not run');
    else log.warn({ err: error }, 'SQL of callers waits for the engine');
  };
  const attempt = async (): Promise<GuestFacts> => {
    try {
      const facts = await check();
      if (said !== undefined) log.info('SQL of callers is run again');
      said = undefined;
      return facts;
    } catch (error) {
      tell(error);
      setTimeout(forget, retryAfterMs).unref();
      throw new EngineError('unreachable', 'guest-check', null, error);
    }
  };
  const forget = (): void => {
    passed = undefined;
  };
  const facts = (): Promise<GuestFacts> => {
    passed ??= attempt();
    return passed;
  };
  return {
    facts,
    async pass(work) {
      const current = facts();
      try {
        return await work(await current);
      } catch (error) {
        if (error instanceof EngineError && error.problem === 'unreachable' && passed === current) {
          if (
            await current.then(
              () => true,
              () => false,
            )
          )
            forget();
        }
        throw error;
      }
    },
  };
}
