// `useStateValue`: one entry of the state.

import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import { missingWorker, useSvc } from './provider.ts';
import { asError, nothing, useView, View } from './view.ts';

/**
 * One entry of the state, as far as it is known.
 *
 * @example
 * import type { StateValue } from 'svc-browser-sdk/react';
 *
 * export const shown = ({ value }: StateValue<number>): number => value ?? 0;
 */
export interface StateValue<T> extends Known<T> {
  /** Writes the entry; resolves when it is durable. It stays the same from render to render. */
  readonly set: (value: T) => Promise<void>;
}

interface Known<T> {
  /** Null if the entry does not exist; undefined until it was read. */
  readonly value: T | null | undefined;
  /** Why it cannot be read or watched; `value` is then the last known one. */
  readonly error: Error | undefined;
}

/**
 * Watches one entry of the state while the component is mounted, and reads it again after each reconnection.
 *
 * @example
 * import { createElement } from 'react';
 * import { useStateValue } from 'svc-browser-sdk/react';
 *
 * export function Counter() {
 *   const { value, set } = useStateValue<number>('counters', 'visits');
 *   return createElement('button', { onClick: () => set((value ?? 0) + 1) }, value ?? 0);
 * }
 */
export function useStateValue<T = unknown>(scope: string, key: string): StateValue<T> {
  const svc = useSvc();
  const [known, { set }] = useView(() => new Entry<T>(svc, scope, key), [svc, scope, key]);
  return { ...known, set };
}

class Entry<T> extends View<Known<T>> {
  readonly set: (value: T) => Promise<void>;

  constructor(svc: SvcWorker | undefined, scope: string, key: string) {
    super({ value: undefined, error: undefined }, (view) =>
      svc === undefined ? nothing : follow(view, svc, scope, key),
    );
    this.set = async (value) => {
      if (svc === undefined) throw missingWorker('state::set');
      await svc.state.set(scope, key, value);
    };
  }
}

function follow<T>(view: View<Known<T>>, svc: SvcWorker, scope: string, key: string): () => void {
  let isOver = false;
  let changes = 0;
  let value: T | null | undefined;
  const report = (error: Error | undefined): void => {
    if (!isOver) view.show(() => ({ value, error }));
  };
  const watch = svc.state.watch<T>({ scope, key }, ({ new_value }) => {
    changes += 1;
    value = new_value;
    report(undefined);
  });
  const read = async (): Promise<void> => {
    try {
      await watch.ready();
      const before = changes;
      const stored = await svc.state.get<T>(scope, key);
      // A change that arrived in the meantime may be newer than what was read; later changes are reported.
      if (changes === before) value = stored;
      report(undefined);
    } catch (thrown) {
      report(asError(thrown));
    }
  };
  void read();
  // Changes are missed while there is no connection.
  const end = svc.on('reconnected', read);
  return () => {
    isOver = true;
    end();
    watch.stop();
  };
}
