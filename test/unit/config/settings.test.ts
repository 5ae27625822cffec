import { describe, expect, test } from 'vitest';
import { topLevel } from '../../../src/config/settings.ts';
import { checkValue } from '../../../src/core/config-fields/fields-check.ts';
import { listFields } from '../../../src/core/config-fields/fields-describe.ts';
import { loaded, placesOf } from './fixture-declarations.ts';

const MIB = 1024 * 1024;

describe('defaults', () => {
  test('[L1] Every limit has the default that the guarantees state', () => {
    const { trusted, engine, browser } = loaded('').settings.limits;
    expect({ trusted, engine, browser }).toEqual({
      trusted: {
        frame_bytes: 16 * MIB,
        connections: 10_000,
        connections_per_second: 500,
        outbound_buffer_bytes: 16 * MIB,
        outbound_close_bytes: 32 * MIB,
        in_flight_per_worker: 1024,
        in_flight_per_caller: 4096,
        functions_per_worker: 5000,
        triggers_per_worker: 5000,
      },
      engine: {
        in_flight: 65_536,
        waiting_calls: 8192,
        waiting_bytes: 128 * MIB,
        outbound_buffers_bytes: 512 * MIB,
        channels: 10_000,
        channel_buffer_bytes: MIB,
        channel_buffers_bytes: 128 * MIB,
        channel_spill_bytes: 64 * MIB,
        channel_spills_bytes: 1024 * MIB,
      },
      browser: {
        frame_bytes: MIB,
        connections: 10_000,
        connections_per_second: 500,
        connections_per_address: 200,
        connections_per_second_per_address: 50,
        auth_calls: 256,
        ask_timeout_ms: 5_000,
        registration_timeout_ms: 60_000,
        max_age_ms: 43_200_000,
        outbound_close_bytes: 4 * MIB,
        in_flight_per_worker: 1024,
        in_flight_per_caller: 64,
        functions_per_worker: 100,
        triggers_per_worker: 100,
        messages_per_second: 200,
        messages_burst: 400,
        channels: 64,
        channel_bytes: 50_331_648,
        channels_per_second: 20,
      },
    });
  });

  test('[K4] The other settings have safe defaults', () => {
    const { limits: _limits, ...rest } = loaded('').settings;
    expect(rest).toEqual({
      threads: 'auto',
      compat: undefined,
      strict: false,
      bridge_token: undefined,
      allowed_hosts: [],
      drain_timeout_ms: 25_000,
      trusted_proxies: [],
      outgoing: { allow: [] },
      log_payloads: false,
      balance: 'least_in_flight',
    });
  });

  test('[K4] Every default passes its own check', () => {
    for (const { path, fallback } of listFields(topLevel)) {
      if (fallback === undefined) continue;
      // Without these the group is incomplete.
      const required = path.startsWith('cluster.') ? { nats: { servers: [] } } : {};
      const [last = '', ...outer] = path.split('.').reverse();
      const nested = outer.reduce<unknown>((inner, key) => ({ [key]: inner }), { ...required, [last]: fallback });
      expect(checkValue(topLevel, nested)).toMatchObject({ ok: true });
    }
  });

  test('[CLI-7] Every setting has a line of help without a full stop', () => {
    for (const { path, help } of listFields(topLevel))
      expect([path, help]).toEqual([path, expect.stringMatching(/[^.]$/)]);
  });
});

describe('values', () => {
  test.each([
    ['threads: 1', { threads: 1 }],
    ['threads: auto', { threads: 'auto' }],
    ['compat: iii', { compat: 'iii' }],
    ['strict: true', { strict: true }],
    [`bridge_token: ${'x'.repeat(32)}`, { bridge_token: 'x'.repeat(32) }],
    ['allowed_hosts: [svc.internal, 10.0.0.7]', { allowed_hosts: ['svc.internal', '10.0.0.7'] }],
    ['drain_timeout_ms: 0', { drain_timeout_ms: 0 }],
    ['log_payloads: true', { log_payloads: true }],
    ['balance: newest', { balance: 'newest' }],
    [
      'balance: {default: newest, mail: reject_duplicates}',
      { balance: { default: 'newest', mail: 'reject_duplicates' } },
    ],
    ['limits: {trusted: {frame_bytes: 1048576}}', { limits: { trusted: { frame_bytes: MIB, connections: 10_000 } } }],
    ['limits: {engine: {in_flight: 1}}', { limits: { engine: { in_flight: 1 }, trusted: { connections: 10_000 } } }],
  ])('[K4] "%s" is accepted', (text, settings) => {
    expect(loaded(text).settings).toMatchObject(settings);
  });

  test('[X2] The bridge token needs 32 bytes', () => {
    expect(loaded(`bridge_token: ${'é'.repeat(16)}`).settings.bridge_token).toBe('é'.repeat(16));
    expect(placesOf(`bridge_token: ${'é'.repeat(15)}x`)).toEqual([
      '1:15 bridge_token: Must be text of at least 32 bytes, found text of 31 bytes.',
    ]);
  });

  test('[X2] A token of digits only must be in quotes, and is not shown', () => {
    const digits = '1'.repeat(40);
    expect(placesOf(`bridge_token: ${digits}`)).toEqual([
      '1:15 bridge_token: Must be text of at least 32 bytes, found a number. Put quotes around it.',
    ]);
    expect(loaded(`bridge_token: "${digits}"`).settings.bridge_token).toBe(digits);
  });

  test('[K4] Every limit refuses a value below and above its range, and names the range', () => {
    for (const { path, expected } of listFields(topLevel).filter((field) => field.path.startsWith('limits.'))) {
      const [min = Number.NaN, max = Number.NaN] = [...expected.matchAll(/\d+/g)].map(Number);
      for (const value of [min - 1, max + 1, -1, 0.5]) {
        const nested = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        expect(checkValue(topLevel, nested)).toMatchObject({
          ok: false,
          problems: [{ message: `Must be an integer from ${min} to ${max}, found the number ${value}.` }],
        });
      }
    }
  });
});
