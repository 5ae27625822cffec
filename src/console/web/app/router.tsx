// The routes: one for each page of the list, loaded when it is first opened or pointed at.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { parseAddress, printAddress } from '../data/search.ts';
import { EmptyState, Loading } from '../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../kit/feedback/error-card.tsx';
import { PAGES } from '../pages/list.ts';
import { Shell } from './shell.tsx';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed });

const pageRoutes = PAGES.flatMap(({ path, load, below }) => {
  const component = lazyRouteComponent(load);
  const own = createRoute({ getParentRoute: () => rootRoute, path, component });
  // The same component on purpose: list and detail are one page, and its state is kept between them.
  return below === true
    ? [own, createRoute({ getParentRoute: () => rootRoute, path: `${path}/$id`, component })]
    : [own];
});

export const router = createRouter({
  routeTree: rootRoute.addChildren(pageRoutes),
  parseSearch: (text) => parseAddress(text),
  stringifySearch: (search) => printAddress(search),
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  defaultPendingComponent: () => <Loading what="the page" />,
  defaultErrorComponent: PageFailed,
  scrollRestoration: false,
});

function NotFound(): ReactNode {
  return (
    <EmptyState title="There is no such page">
      <p>The navigation and the command palette (Ctrl K) list all pages.</p>
    </EmptyState>
  );
}

function PageFailed({ error, reset }: { readonly error: unknown; readonly reset: () => void }): ReactNode {
  return (
    <div className="p-4">
      <ErrorCard error={error} what="Showing this page" retry={reset} />
    </div>
  );
}
