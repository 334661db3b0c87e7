import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Lane } from '../../core/domain/lane.ts';
import type { SqlTierId } from '../../core/domain/plan.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { RateDecision } from '../accounts/store.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { AnyOperation, OperationDeps } from '../operations/define.ts';
import { callerAddress } from './caller-address.ts';
import { RateHeaders, sentText } from './headers.ts';
import { HttpOffers } from './order.ts';
import { rawInput } from './raw-input.ts';
import { BoundReader, leavingSignal, type RequestFacts, RequestSandbox, startRun } from './request-facts.ts';

interface CalledRoute {
  readonly operation: AnyOperation;
  readonly api: { readonly deps: OperationDeps; readonly sandbox: SqlSandbox };
}

/** A request as the gate sees it. */
export class HttpCall implements GateRequest {
  readonly operation: AnyOperation;
  readonly surface = 'http';
  readonly offers: HttpOffers;
  readonly idempotencyKey: string | undefined;
  readonly deps: OperationDeps;
  lane: Lane | null = null;
  private readonly request: FastifyRequest;
  private readonly reply: FastifyReply;
  private readonly facts: RequestFacts;
  private readonly windows: RateHeaders;

  constructor({ operation, api }: CalledRoute, request: FastifyRequest, reply: FastifyReply) {
    const { facts } = request;
    if (facts === undefined) throw new Error('a request without facts reached a handler');
    const { deps, sandbox } = api;
    this.operation = operation;
    this.offers = new HttpOffers(operation, request, deps.publicUrl);
    const idempotencyKey = sentText(request.headers['idempotency-key']);
    this.idempotencyKey = idempotencyKey === '' ? undefined : idempotencyKey;
    this.deps = {
      ...deps,
      reader: new BoundReader(deps.reader, facts),
      sql: new RequestSandbox(sandbox, facts),
    };
    this.request = request;
    this.reply = reply;
    this.facts = facts;
    this.windows = new RateHeaders(reply);
  }

  get credentials(): FastifyRequest['headers'] {
    return this.request.headers;
  }

  get address(): string {
    return callerAddress(this.request);
  }

  get mayCharge(): boolean {
    return this.request.method !== 'HEAD';
  }

  get hasLeft(): boolean {
    return this.facts.hasLeft;
  }

  left(): AbortSignal {
    return leavingSignal(this.facts);
  }

  raw(): ReturnType<typeof rawInput> {
    return rawInput(this.operation, this.request);
  }

  onRate(decision: RateDecision, tier: SqlTierId | null): void {
    this.windows.add(decision, tier);
  }

  onPaid(receiptHeader: string): void {
    this.reply.header('x-payment-response', receiptHeader).header('payment-response', receiptHeader);
  }

  onRun(lane: Lane): void {
    this.lane = lane;
    startRun(this.facts);
  }
}
