// What a component shows of something that changes at its own pace.
//
// R1  What `get` returns changes in frames of the display only, so a component renders once a frame at most, however
//     often the thing changes. All views change in the same callback: React renders them together.
// R2  Nothing is followed before a component is mounted (servers mount none), and nothing after it is gone. A component
//     may be mounted, taken away and mounted again (strict mode): following begins anew.

import { useMemo, useSyncExternalStore } from 'react';

/** Begins to follow; returns how to end it. */
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

  /** Has this shown in the next frame, unless something later takes its place until then. */
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

/** What the view shows; the view is made anew when one of these differs. */
export function useView<Value, Made extends Shown<Value>>(
  make: () => Made & Shown<Value>,
  dependencies: readonly unknown[],
): readonly [Value, Made] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever calls it names them.
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
