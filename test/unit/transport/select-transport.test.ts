import { describe, expect, test } from 'vitest';
import { selectTransport } from '../../../src/transport/select-transport.ts';
import type { Uws } from '../../../src/transport/uws/uws-library.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

/** A library that is loaded and never called. */
const LOADED: Uws = {
  App: () => {
    throw new Error('Nothing listens in this test');
  },
  us_listen_socket_close: () => {},
  us_socket_local_port: () => 0,
  LIBUS_LISTEN_EXCLUSIVE_PORT: 1,
  DISABLED: 0,
};
const MISSING = new Error("Cannot find module 'uWebSockets.js'\nRequire stack:\n- /somewhere");

async function select(asked: string | undefined, loaded: Uws | Error) {
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
  test.each([undefined, ''])('[PD-20] ws is used, with the reason in its name and a warning', async (asked) => {
    const { selected } = await select(asked, MISSING);
    const name = "ws (uWebSockets.js is not available: Cannot find module 'uWebSockets.js')";
    expect(selected).toMatchObject({ ok: true, transport: { name } });
    if (!selected.ok) return;
    expect(selected.warnings).toEqual([
      expect.stringContaining("Cannot find module 'uWebSockets.js'. npm leaves it out"),
    ]);
    expect(selected.warnings.join()).not.toContain('\n');
  });

  test('[PD-20] SVC_TRANSPORT=uws is refused with the reason', async () => {
    const { selected } = await select('uws', MISSING);
    expect(selected).toEqual({
      ok: false,
      text: "SVC_TRANSPORT is 'uws', and uWebSockets.js cannot be loaded here: Cannot find module 'uWebSockets.js'",
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
