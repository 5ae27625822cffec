// `useConnection`: whether the page has a connection to the engine.

import type { SvcError } from '../../sdk/calls/errors.ts';
import type { ConnectionState } from '../../sdk/connection/connection.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import { useSvc } from './provider.ts';
import { nothing, useView, View } from './view.ts';

/**
 * The state of a page's connection.
 *
 * @example
 * import type { ConnectionView } from 'svc-browser-sdk/react';
 *
 * export const light = ({ state }: ConnectionView): string => (state === 'connected' ? 'green' : 'red');
 */
export interface ConnectionView {
  /** `connecting` until the first connection is up; later `disconnected` whenever there is none. */
  readonly state: ConnectionState;
  /** Why the engine refused the last connection; undefined as soon as one is up. */
  readonly error: SvcError | undefined;
}

const INITIAL: ConnectionView = { state: 'connecting', error: undefined };

/**
 * Whether the page has a connection, updated as it changes. If the page itself shuts its worker down, the hook does not
 * report that.
 *
 * @example
 * import { useConnection } from 'svc-browser-sdk/react';
 *
 * export function Light() {
 *   const { state, error } = useConnection();
 *   return error?.message ?? state;
 * }
 */
export function useConnection(): ConnectionView {
  const svc = useSvc();
  const [connection] = useView(() => viewOf(svc), [svc]);
  return connection;
}

function viewOf(svc: SvcWorker | undefined): View<ConnectionView> {
  return new View(INITIAL, (view) => {
    if (svc === undefined) return nothing;
    let wasConnected = false;
    let error: SvcError | undefined;
    const read = (): ConnectionView => {
      const state = svc.state_of_connection;
      wasConnected ||= state === 'connected';
      // Between two dials and during the first ones there is no connection either way.
      if (state === 'connected' || state === 'closed') return { state, error };
      return { state: wasConnected ? 'disconnected' : 'connecting', error };
    };
    const update = (): void => view.show(read);
    const markConnected = (): void => {
      error = undefined;
      update();
    };
    const ends = [
      svc.on('connected', markConnected),
      svc.on('reconnected', markConnected),
      svc.on('disconnected', update),
      svc.on('rejected', (rejection) => {
        if (rejection.subject !== 'connection') return;
        error = rejection.error;
        update();
      }),
    ];
    update();
    return () => {
      for (const end of ends) end();
    };
  });
}
