// Provides the worker of a page to its components.

import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';

/** Null: there is no provider. */
const SvcContext = createContext<SvcWorker | undefined | null>(null);

/**
 * Props of `SvcProvider`.
 *
 * @example
 * import type { SvcProviderProps } from 'svc-browser-sdk/react';
 *
 * export const onServer: SvcProviderProps = { svc: undefined, children: 'loading' };
 */
export interface SvcProviderProps {
  /** The worker of the page. Undefined if there is none: on a server, or before a user has logged in. */
  readonly svc: SvcWorker | undefined;
  readonly children?: ReactNode;
}

/**
 * Provides the worker of the page to all components below it. It neither creates nor ends the worker: one per page,
 * created outside of components, is enough.
 *
 * @example
 * import { createElement } from 'react';
 * import { registerWorker } from 'svc-browser-sdk';
 * import { SvcProvider } from 'svc-browser-sdk/react';
 *
 * const svc = typeof window === 'undefined' ? undefined : registerWorker('wss://svc.example:49135');
 * export const Page = () => createElement(SvcProvider, { svc }, 'the page');
 */
export function SvcProvider({ svc, children }: SvcProviderProps): ReactElement {
  return createElement(SvcContext.Provider, { value: svc }, children);
}

/**
 * The worker of the provider; undefined if it has none.
 *
 * @example
 * import { useEffect, useState } from 'react';
 * import { useSvc } from 'svc-browser-sdk/react';
 *
 * export function Notice() {
 *   const svc = useSvc();
 *   const [text, setText] = useState('');
 *   useEffect(() => {
 *     const notify = svc?.registerFunction('ui::notify', (notice: { text: string }) => setText(notice.text));
 *     return () => notify?.unregister();
 *   }, [svc]);
 *   return text;
 * }
 */
export function useSvc(): SvcWorker | undefined {
  const svc = useContext(SvcContext);
  if (svc === null) throw new Error('There is no <SvcProvider> around this component: put one around the page');
  return svc;
}

export function missingWorker(what: string): Error {
  return new Error(`${what}: the <SvcProvider> around this component was given no worker`);
}
