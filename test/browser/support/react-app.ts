// The page of the tests of `svc-browser-sdk/react`, bundled with React; tests drive it through `window.app`.

import { createElement, StrictMode } from 'react';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { type BrowserOptions, registerWorker } from 'svc-browser-sdk';
import { commits, handles, Page, type PartName, WithoutProvider } from './react-parts.ts';

export interface ReactApp {
  readonly handles: typeof handles;
  readonly commits: typeof commits;
  start(names: readonly PartName[], how: StartOptions): void;
  /** The same page with other components. */
  show(names: readonly PartName[]): void;
  stop(): void;
  /** The error of React for a component without a provider. */
  withoutProvider(): Promise<string>;
}

export interface StartOptions {
  /** Absent: the page has no worker. */
  readonly url?: string;
  readonly token?: string;
  readonly options?: BrowserOptions;
  readonly strict?: boolean;
  /** Continues from the HTML that the server rendered. */
  readonly hydrates?: boolean;
}

let root: Root | undefined;
let show: ReactApp['show'] = () => {};

const app: ReactApp = {
  handles,
  commits,
  start(names, { url, token = '', options, strict = false, hydrates = false }) {
    const svc = url === undefined ? undefined : registerWorker(url, { auth: () => token, log: () => {}, ...options });
    Object.assign(window, { svc });
    handles.token = async () => token;
    const tree = (parts: readonly PartName[]) => {
      const page = createElement(Page, { svc, names: parts });
      return strict ? createElement(StrictMode, null, page) : page;
    };
    const place = rootElement();
    const made = hydrates ? hydrateRoot(place, tree(names)) : createRoot(place);
    show = (parts) => made.render(tree(parts));
    root = made;
    if (!hydrates) show(names);
  },
  show: (names) => show(names),
  stop: () => root?.unmount(),
  withoutProvider: () =>
    new Promise((resolve) => {
      createRoot(rootElement(), { onUncaughtError: (error) => resolve(String(error)) }).render(
        createElement(WithoutProvider),
      );
    }),
};

function rootElement(): HTMLElement {
  const place = document.getElementById('root');
  if (place === null) throw new Error('The page has no place for React');
  return place;
}

declare global {
  interface Window {
    app: ReactApp;
  }
}

window.app = app;
