// Whether a page of another site requests data of the console (X3). Browsers fetch images, scripts and frames without
// an `Origin`, and follow the links and redirects of any page: the answer stays hidden from that page, but the engine
// would have carried the request out. `Sec-Fetch-Site` shows this, and no page can forge it.

/**
 * Why the request is refused, in words; `undefined` lets it in. `header`: a header of the request by its name. An
 * `Origin` is checked elsewhere, against the lists.
 */
export function fetchSiteOffence(header: (name: string) => string | undefined): string | undefined {
  const site = header('sec-fetch-site');
  // Not a browser, an address that a person typed, or the listener's own page.
  if (site === undefined || site === 'none' || site === 'same-origin') return undefined;
  if (header('origin') !== undefined) return undefined;
  // A link on a page of this very site, such as the console on its own port, that opens the data as a page.
  const isPage = header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document';
  if (site === 'same-site' && isPage) return undefined;
  const quoted = site.slice(0, SITE_CHARS_MAX);
  return `Pages of other sites may not ask for this (Sec-Fetch-Site: ${quoted}); open the address itself`;
}

const SITE_CHARS_MAX = 20;
