// Does a page of another site make this request (X3)? Browsers send some requests without asking first: forms, images,
// fetches of the simple kind. Their answers stay hidden from the page, but the handler would have run.
//
// What the browser itself says of the request is believed: no page can forge `Sec-Fetch-…` or `Origin`. A link that a
// person follows comes in, and so does everything that is no browser.

import { isSameHost } from '../../core/origin.ts';
import type { HeaderLines } from '../../transport/http.ts';
import type { CorsRules } from './cors.ts';
import { headerOf } from './request-text.ts';

export function isOfForeignPage(headers: HeaderLines, cors: CorsRules | undefined): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return false;
  const origin = headerOf(headers, 'origin');
  if (origin !== undefined) return !(cors?.allows(origin) || isSameHost(origin, headerOf(headers, 'host') ?? ''));
  // No origin is told for images and the like: nobody can say whether it is one that `cors` names.
  const isOfOtherPage = site === 'cross-site' || site === 'same-site';
  return isOfOtherPage && cors?.isAny !== true && headerOf(headers, 'sec-fetch-mode') !== 'navigate';
}
