// Parses the address of a connection: `/stream/{stream_name}/{group_id}/[{item_id}/]` joins that group at once, `/`
// leaves it to messages. Pure.

import { idOffence } from '../../protocol/frames/limits.ts';

/** The subject of a subscription, and its starting position (T4). */
export interface JoinRequest {
  readonly subscriptionId: string;
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
  readonly since: Since | undefined;
  /** If the connection is too slow, the newest of several events of an item is enough (T5). */
  readonly conflate: boolean;
}

/** The last event that the client saw before the connection broke. */
export interface Since {
  readonly epoch: string;
  readonly seq: number;
  /** It did not break: events since then are held here. Never sent by a client. */
  readonly live?: true;
}

export type Target =
  | { readonly kind: 'root' }
  | { readonly kind: 'join'; readonly join: JoinRequest }
  | { readonly kind: 'offence'; readonly status: 400 | 404; readonly text: string };

/** The id of the subscription that the address itself creates; clients choose other ids for theirs. */
export const PATH_SUBSCRIPTION_ID = 'path';

export function readTarget(path: string, query: string): Target {
  if (path === '/' || path === '') return { kind: 'root' };
  const [, first, ...rest] = path.split('/');
  if (rest.at(-1) === '') rest.pop();
  if (first !== 'stream' || rest.length < 2 || rest.length > 3) return offence(404, 'Not found');
  const names = rest.map(percentDecoded);
  for (const [index, name] of names.entries()) {
    const what = ['stream name', 'group id', 'item id'][index];
    if (name === undefined) return offence(400, `The ${what} in the path is not percent-encoded UTF-8`);
    const wrong = idOffence(name);
    if (wrong !== undefined) return offence(400, `The ${what} ${wrong}`);
  }
  const [stream = '', group = '', item] = names;
  const parameters = new URLSearchParams(query);
  const since = readSince(parameters);
  if (since === 'offence') return offence(400, 'seq must be a whole number from 0 up, and epoch must be given with it');
  const conflate = parameters.get('conflate') ?? 'false';
  if (conflate !== 'true' && conflate !== 'false') {
    return offence(400, 'conflate must be true or false');
  }
  const subject = { subscriptionId: PATH_SUBSCRIPTION_ID, stream, group, item };
  return { kind: 'join', join: { ...subject, since, conflate: conflate === 'true' } };
}

function readSince(parameters: URLSearchParams): Since | undefined | 'offence' {
  const [epoch, seq] = [parameters.get('epoch'), parameters.get('seq')];
  if (epoch === null && seq === null) return undefined;
  if (epoch === null || seq === null || !/^\d{1,15}$/.test(seq)) return 'offence';
  return { epoch, seq: Number(seq) };
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // Exactly the input for which the function throws must be refused here.
    return undefined;
  }
}

function offence(status: 400 | 404, text: string): Target {
  return { kind: 'offence', status, text };
}
