import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('engine::health::check', () => {
  test('[K2] It reports version, modules, counters and the resources of the process', () => {
    const caller = new EngineInMemory().connect();
    caller.invokeVoid('missing');
    expect(caller.ask('engine::health::check')).toEqual({
      status: 'healthy',
      components: {
        modules: { 'svc-engine-functions': { status: 'healthy' } },
        router: {
          status: 'healthy',
          details: {
            draining: false,
            pressure: { level: 'normal', cause: null },
            process: { cpu_seconds: expect.any(Number), resident_bytes: expect.any(Number) },
            counters: { 'invocations.void_dropped{function_not_found}': 1 },
          },
        },
      },
      timestamp: Date.UTC(2026, 0, 1),
      version: '0.0.0-test',
    });
  });

  test('[guarantees 4] At 90 % of the limit, health is degraded and names the cause', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.openFiles = { open: 899, max: 1000 };
    expect(caller.ask('engine::health::check')).toMatchObject({
      status: 'healthy',
      components: { open_files: { status: 'healthy', details: { open: 899, max: 1000 } } },
    });
    engine.openFiles = { open: 900, max: 1000 };
    const reason = '900 of 1000 files are open, so new connections are refused: raise ulimit -n';
    expect(caller.ask('engine::health::check')).toMatchObject({
      status: 'degraded',
      components: { open_files: { status: 'degraded', details: { open: 900, max: 1000, reason } } },
    });
  });

  test('[K2] Health asks to send nothing here while the engine drains', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    engine.context.isDraining = true;
    expect(caller.ask('engine::health::check')).toMatchObject({ status: 'unhealthy' });
  });
});
