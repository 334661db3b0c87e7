import type { Call, ListCall } from './call.ts';
import type { CallOptions } from './send.ts';
import type { Answer, OperationId, Params } from './wire.ts';

/** Methods of operations, typed by the OpenAPI document. */

/** Parameters may be left out where none is required. */
type Arguments<Id extends OperationId, Options> =
  Record<never, never> extends Params<Id>
    ? [params?: Params<Id>, options?: Options]
    : [params: Params<Id>, options?: Options];

export type Method<Id extends OperationId, Options = CallOptions> = (
  ...given: Arguments<Id, Options>
) => Call<Answer<Id>>;

type RowOf<Page, Rows extends string> = Page extends { [field in Rows]: readonly (infer Row)[] }
  ? Row
  : never;

export type ListMethod<Id extends OperationId, Rows extends string> = (
  ...given: Arguments<Id, CallOptions>
) => ListCall<Answer<Id>, RowOf<Answer<Id>, Rows>>;

/** Of operations that give the same answer again for the same key. */
export interface RepeatableOptions extends CallOptions {
  /** At most 255 characters, chosen by the caller; what it does is said at the operation. */
  readonly idempotencyKey?: string | undefined;
}
