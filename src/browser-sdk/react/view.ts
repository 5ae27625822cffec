// The view of a component on a value that changes at its own pace.
//
// - The result of `get` changes only in frames of the display, so a component renders at most once per frame, however
//   often the value changes. All views change in the same callback, so React renders them together.
// - A value is followed only while its component is mounted; servers mount none. A component may be mounted, unmounted
//   and mounted again (strict mode): following then starts again.

import { useMemo, useSyncExternalStore } from 'react';

/** Starts to follow; returns a function that ends it. */
export type Follow<Value> = (view: View<Value>) => () => void;

export class View<Value> {
  readonly #initial: Value;
  readonly #follow: Follow<Value>;
  #shown: Value;
  #read: (() => Value) | undefined;
  #onChange: (() => void) | undefined;

  constructor(initial: Value, follow: Follow<Value> = () => nothing) {
    this.#initial = initial;
    this.#shown = initial;
    this.#follow = follow;
  }

  /** Shows the value in the next frame, unless a later call replaces it before that. */
  show(read: () => Value): void {
    if (this.#read === undefined) inNextFrame(this.#update);
    this.#read = read;
  }

  readonly get = (): Value => this.#shown;

  readonly getInitial = (): Value => this.#initial;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#onChange = onChange;
    const end = this.#follow(this);
    return () => {
      this.#onChange = undefined;
      end();
    };
  };

  readonly #update = (): void => {
    if (this.#read === undefined) return;
    this.#shown = this.#read();
    this.#read = undefined;
    this.#onChange?.();
  };
}

type Shown<Value> = Pick<View<Value>, 'get' | 'getInitial' | 'subscribe'>;

/** The value of the view; the view is created again when one of the dependencies differs. */
export function useView<Value, Made extends Shown<Value>>(
  make: () => Made & Shown<Value>,
  dependencies: readonly unknown[],
): readonly [Value, Made] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names them.
  const view = useMemo(make, dependencies);
  return [useSyncExternalStore(view.subscribe, view.get, view.getInitial), view];
}

let due: (() => void)[] = [];

function inNextFrame(task: () => void): void {
  if (due.length === 0) {
    requestAnimationFrame(() => {
      const tasks = due;
      due = [];
      for (const run of tasks) run();
    });
  }
  due.push(task);
}

export const nothing = (): void => {};

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
