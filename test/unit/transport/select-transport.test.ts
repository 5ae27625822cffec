import { describe, expect, test } from 'vitest';
import { selectTransport } from '../../../src/transport/select-transport.ts';
import { UwsUnavailable } from '../../../src/transport/uws/uws-binary.ts';
import type { Uws } from '../../../src/transport/uws/uws-library.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

function listensNever(): never {
  throw new Error('Nothing listens in this test');
}

/** A library that is loaded and never called. */
const LOADED: Uws = {
  App: listensNever,
  SSLApp: listensNever,
  us_listen_socket_close: () => {},
  us_socket_local_port: () => 0,
  LIBUS_LISTEN_EXCLUSIVE_PORT: 1,
  DISABLED: 0,
};
const MISSING = new UwsUnavailable('its binary for Node 24 is not installed', 'install it');

async function select(asked: string | undefined, loaded: Uws | UwsUnavailable) {
  let isLoaded = false;
  const selected = await selectTransport({
    requested: asked,
    clock: new FakeClock(),
    loadUws: () => {
      isLoaded = true;
      return loaded;
    },
  });
  return { selected, isLoaded };
}

describe('uWebSockets.js is available', () => {
  test.each([undefined, '', 'uws'])('[PD-20] SVC_TRANSPORT=%s selects it, without a warning', async (asked) => {
    const { selected } = await select(asked, LOADED);
    expect(selected).toMatchObject({ ok: true, transport: { name: 'uWebSockets.js' }, warnings: [] });
  });
});

describe('uWebSockets.js is not available', () => {
  test.each([undefined, ''])(
    '[PD-20] ws is used, with the reason in its name and the action in a warning',
    async (asked) => {
      const { selected } = await select(asked, MISSING);
      const name = 'ws (uWebSockets.js is not available: its binary for Node 24 is not installed)';
      expect(selected).toMatchObject({ ok: true, transport: { name } });
      expect(selected.ok && selected.warnings).toEqual([
        'Connections run on ws, which takes more CPU for each frame: uWebSockets.js is not available, its binary for ' +
          'Node 24 is not installed. To change that, install it. SVC_TRANSPORT=ws selects ws without this warning',
      ]);
    },
  );

  test('[PD-20] without an action, the warning names the reason only', async () => {
    const { selected } = await select(
      undefined,
      new UwsUnavailable('there is no binary for darwin on arm64', undefined),
    );
    const [warning] = selected.ok ? selected.warnings : [];
    expect(warning).toContain('no binary for darwin on arm64. SVC_TRANSPORT=ws selects');
  });

  test('[PD-20] SVC_TRANSPORT=uws is refused with the reason and the action', async () => {
    const { selected } = await select('uws', MISSING);
    expect(selected).toEqual({
      ok: false,
      text:
        "SVC_TRANSPORT is 'uws', and uWebSockets.js is not available: its binary for Node 24 is not installed. " +
        'To use it, install it',
    });
  });
});

describe('SVC_TRANSPORT', async () => {
  test('[PD-20] ws selects ws without a warning and without loading uWebSockets.js', async () => {
    const { selected, isLoaded } = await select('ws', LOADED);
    expect(selected).toMatchObject({ ok: true, transport: { name: 'ws' }, warnings: [] });
    expect(isLoaded).toBe(false);
  });

  test.each(['WS', 'uWebSockets.js', 'tcp', ' '])('[K4] %s is refused with the known values', async (asked) => {
    const { selected, isLoaded } = await select(asked, LOADED);
    expect(selected).toEqual({
      ok: false,
      text: `SVC_TRANSPORT is '${asked}': expected uws or ws, or nothing for the best that loads`,
    });
    expect(isLoaded).toBe(false);
  });
});
