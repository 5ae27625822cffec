// Which library carries the sockets: the faster one where it loads, otherwise the other, or the one that was asked for.

import type { Clock } from '../effects/clock.ts';
import type { Transport } from './transport.ts';
import { UwsUnavailable } from './uws/uws-binary.ts';
import type { Uws } from './uws/uws-library.ts';
import { createUwsTransport } from './uws/uws-transport.ts';

export interface TransportChoice {
  /** The value of SVC_TRANSPORT, if any. */
  readonly requested: string | undefined;
  readonly clock: Clock;
  loadUws(): Uws | UwsUnavailable;
}

export type SelectedTransport =
  | { readonly ok: true; readonly transport: Transport; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly text: string };

export async function selectTransport({ requested, clock, loadUws }: TransportChoice): Promise<SelectedTransport> {
  switch (requested) {
    case 'ws':
      return { ok: true, transport: await wsTransport(clock), warnings: [] };
    case 'uws':
    case '':
    case undefined:
      break;
    default:
      return {
        ok: false,
        text: `SVC_TRANSPORT is '${requested}': expected uws or ws, or nothing for the best that loads`,
      };
  }
  const uws = loadUws();
  if (!(uws instanceof UwsUnavailable)) return { ok: true, transport: createUwsTransport(uws, clock), warnings: [] };
  const { message: reason, action } = uws;
  if (requested === 'uws') {
    const then = action === undefined ? '' : `. To use it, ${action}`;
    return { ok: false, text: `SVC_TRANSPORT is 'uws', and uWebSockets.js is not available: ${reason}${then}` };
  }
  const then = action === undefined ? '' : `To change that, ${action}. `;
  return {
    ok: true,
    transport: { ...(await wsTransport(clock)), name: `ws (uWebSockets.js is not available: ${reason})` },
    warnings: [
      `Connections run on ws, which takes more CPU for each frame: uWebSockets.js is not available, ${reason}. ` +
        `${then}SVC_TRANSPORT=ws selects ws without this warning`,
    ],
  };
}

/** Loaded only where it is used: its libraries are a tenth of the start time. */
async function wsTransport(clock: Clock): Promise<Transport> {
  return (await import('./node/ws-transport.ts')).createWsTransport(clock);
}
