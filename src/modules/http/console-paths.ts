// Which paths lie below `/_console/`, and which of those are always answered by the engine. A path is that of a request
// or of a route. It is compared as routes are, without percent escapes: no spelling of it avoids the checks (X3, X4).

import { API_PREFIX } from '../../console/api/envelope.ts';
import { decodeSegment } from '../../core/routing/route-pattern.ts';

export function isConsolePath(path: string): boolean {
  if (path.startsWith('/_console')) return path.length === '/_console'.length || path['/_console'.length] === '/';
  // Few paths have escapes: the others are not split.
  return path.includes('%') && segmentsOf(path)[0] === '_console';
}

/** The console's interface. */
export function isBelowApi(path: string): boolean {
  return segmentsOf(path)[1] === API_VERSION;
}

/** The only path of the engine there without a version (PD-15). */
export function isSeedInvoke(path: string): boolean {
  const [, second, ...others] = segmentsOf(path);
  return second === 'invoke' && others.length === 0;
}

const [, API_VERSION] = segmentsOf(API_PREFIX);

function segmentsOf(path: string): readonly (string | undefined)[] {
  return path.slice(1).split('/').map(decodeSegment);
}
