// `/ws/channels/{id}?key=…&dir=read|write`: the address of an end of a data channel. The key is the only credential:
// SDKs send no headers on these sockets (wire 13).

import type { Direction } from '../../core/channels/channel.ts';
import { SUBPROTOCOL_CHANNEL } from '../../protocol/frames/subprotocols.ts';
import type { Admission, UpgradeRequest } from '../../transport/socket.ts';

/** The result of a request: an available end, or the reason for the refusal. */
export type ChannelTarget =
  | { readonly ok: true; readonly id: string; readonly key: string; readonly direction: Direction }
  | { readonly ok: false; readonly status: 400; readonly text: string };

/**
 * The end that a request names; `undefined` if it is about something else. Clients append the path to the address they
 * were given: below a path prefix, and into the query where the address ends in one (wire 1.2).
 */
export function channelTarget({ path, query }: Pick<UpgradeRequest, 'path' | 'query'>): ChannelTarget | undefined {
  const inPath = path.indexOf(CHANNEL_PATH);
  if (inPath >= 0) return readTarget(path.slice(inPath + CHANNEL_PATH.length), query);
  const inQuery = query.indexOf(CHANNEL_PATH);
  if (inQuery < 0) return undefined;
  const rest = query.slice(inQuery + CHANNEL_PATH.length);
  const mark = rest.indexOf('?');
  return mark < 0 ? readTarget(rest, '') : readTarget(rest.slice(0, mark), rest.slice(mark + 1));
}

/** Whether the hub has such an end with that key. */
export function admitToChannel(
  target: ChannelTarget,
  subprotocols: readonly string[],
  knows: (id: string, key: string) => boolean,
): Admission {
  if (!target.ok) return target;
  // The same text for a wrong key, so that it does not reveal which ids exist.
  if (!knows(target.id, target.key)) return { ok: false, status: 404, text: 'Channel not found' };
  return { ok: true, subprotocol: subprotocols.find((name) => name === SUBPROTOCOL_CHANNEL) };
}

const CHANNEL_PATH = '/ws/channels/';

function readTarget(id: string, query: string): ChannelTarget {
  const parameters = new URLSearchParams(query);
  const key = parameters.get('key');
  const direction = parameters.get('dir');
  if (!key) return { ok: false, status: 400, text: 'key is missing: the access_key of the channel is needed' };
  if (direction !== 'read' && direction !== 'write') {
    return { ok: false, status: 400, text: "dir is missing or unknown: it must be 'read' or 'write'" };
  }
  return { ok: true, id, key, direction };
}
