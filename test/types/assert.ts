/**
 * Assertions for the compiler: nothing here is run. `npm run types` compiles the files of this folder, and fails where one of them does
 * not hold.
 */

/** `Assert<Same<One, Other>>` is an error unless the assertion is true. */
export type Assert<Holds extends true> = Holds;

/** The same type, also as to `any` and `readonly`, which being assignable both ways does not tell. */
export type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/**
 * A value of the one may be used as the other. By the constraint the compiler names the member that does not fit; `any` and `never`,
 * which satisfy every constraint, do not hold.
 */
export type Fits<Value extends Wanted, Wanted> = true extends Same<Value, never> | IsAny<Value>
  ? false
  : true;

type IsAny<Value> = 0 extends 1 & Value ? true : false;

/** Among the members of a union of names; a plain `string` is no such union. */
export type Includes<Union extends string, Member extends Union> = string extends Union
  ? false
  : Same<Extract<Union, Member>, Member>;

export type Has<Value, Name extends PropertyKey> = Name extends keyof Value ? true : false;
export type HasNot<Value, Name extends PropertyKey> = Name extends keyof Value ? false : true;
