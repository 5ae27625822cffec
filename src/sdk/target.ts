// How the compiler gets from the target of a call to what it takes and gives back (SDK-1).

import type { FunctionId, FunctionReference, Functions } from './functions.ts';

/** Untyped code must compile under `strict` (SDK-1): the result of an unknown function may be used as anything. */
// biome-ignore lint/suspicious/noExplicitAny: this alias is the one place where SDK-1 asks for it.
export type Untyped = any;

/** Where a call may go. */
export type Target = FunctionId | FunctionReference<Untyped, Untyped>;

/** What the target takes; `unknown` when the compiler does not know it. */
export type PayloadOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'in'>
  : T extends FunctionReference<infer In, Untyped>
    ? In
    : unknown;

/** What the target returns; anything when the compiler does not know it. */
export type ResultOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'out'>
  : T extends FunctionReference<Untyped, infer Out>
    ? Out
    : Untyped;

type FieldOf<Entry, Field extends string> = Entry extends Record<Field, infer Value> ? Value : unknown;
