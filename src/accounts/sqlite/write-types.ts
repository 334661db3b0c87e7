import type { AccountStore, PaymentStore, ReplyStore, UnitStore } from '../store.ts';

/** A method of the port as the writing thread has it: the same answer, at once. */
type AtOnce<Method> = Method extends (argument: infer Argument) => Promise<infer Answer>
  ? (argument: Argument) => Answer
  : never;
type AllAtOnce<Port, Name extends keyof Port> = { readonly [K in Name]: AtOnce<Port[K]> };

export type AccountWrites = AllAtOnce<
  AccountStore,
  'createOrganization' | 'changePlan' | 'addKey' | 'revokeKey'
>;
export type UnitWrites = AllAtOnce<UnitStore, 'grant' | 'hold' | 'capture' | 'release'>;
export type PaymentWrites = AllAtOnce<
  PaymentStore,
  'claim' | 'recordSettlement' | 'leaveOpen' | 'dropClaim' | 'beginServing' | 'finishServing' | 'issueKey'
>;
export interface ReplyWrites {
  beginReply: AtOnce<ReplyStore['begin']>;
  finishReply: AtOnce<ReplyStore['finish']>;
}

/** Everything that changes the file. Each runs inside a transaction that the caller began, and throws to undo itself. */
export interface Writes extends AccountWrites, UnitWrites, PaymentWrites, ReplyWrites {
  /** Changes nothing: that it ran says that the file can be locked for writing. */
  ping: (nothing: null) => void;
}

export type WriteName = keyof Writes;
export type WriteArgument<Name extends WriteName> = Parameters<Writes[Name]>[0];
export type WriteAnswer<Name extends WriteName> = ReturnType<Writes[Name]>;

export interface WriteRequest<Name extends WriteName = WriteName> {
  readonly name: Name;
  readonly argument: WriteArgument<Name>;
}
