// Detects requests made by a page of another site (X3). Browsers send some requests without a preflight: forms, images,
// simple fetches. Their answers stay hidden from the page, but the handler would have run.
//
// The headers that the browser sets are trusted: no page can forge `Sec-Fetch-…` or `Origin`. A link that a person
// follows is accepted, and so is any client that is not a browser.

import { isSameHost } from '../../../core/access/origin.ts';
import type { HeaderLines } from '../../../transport/http.ts';
import { headerOf } from '../requests/request-text.ts';
import type { CorsRules } from './cors.ts';

export function isOfForeignPage(headers: HeaderLines, cors: CorsRules | undefined): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return false;
  const origin = headerOf(headers, 'origin');
  if (origin !== undefined) return !(cors?.allows(origin) || isSameHost(origin, headerOf(headers, 'host') ?? ''));
  // Images and the like send no origin, so it is unknown whether `cors` names it.
  const isOfOtherPage = site === 'cross-site' || site === 'same-site';
  return isOfOtherPage && cors?.isAny !== true && headerOf(headers, 'sec-fetch-mode') !== 'navigate';
}
