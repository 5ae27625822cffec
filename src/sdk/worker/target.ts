// Types that lead from the target of a call to its payload and its result (SDK-1).

import type { FunctionId, FunctionReference, Functions } from '../functions/functions.ts';

/** Untyped code must compile under `strict` (SDK-1): the result of an unknown function may be used as anything. */
// biome-ignore lint/suspicious/noExplicitAny: this alias is the one place where SDK-1 asks for it.
export type Untyped = any;

/** The target of a call. */
export type Target = FunctionId | FunctionReference<Untyped, Untyped>;

/** The payload of the target; `unknown` if the compiler does not know it. */
export type PayloadOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'in'>
  : T extends FunctionReference<infer In, Untyped>
    ? In
    : unknown;

/** The result of the target; any type if the compiler does not know it. */
export type ResultOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'out'>
  : T extends FunctionReference<Untyped, infer Out>
    ? Out
    : Untyped;

type FieldOf<Entry, Field extends string> = Entry extends Record<Field, infer Value> ? Value : unknown;
