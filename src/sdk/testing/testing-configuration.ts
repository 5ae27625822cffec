// The configuration of an engine for a test: every module, all in memory. JSON is valid YAML.

export interface TestPorts {
  readonly workers: number;
  readonly http: number;
  readonly streams: number;
}

/** 0 selects any free port. */
const FREE_PORTS: TestPorts = { workers: 0, http: 0, streams: 0 };

export function testConfiguration(
  queues: Readonly<Record<string, object>> | undefined,
  ports: TestPorts = FREE_PORTS,
): string {
  const kv = { adapter: { name: 'kv', config: { store_method: 'in_memory' } } };
  const host = '127.0.0.1';
  return JSON.stringify({
    threads: 1,
    workers: [
      { name: 'svc-worker-manager', config: { host, port: ports.workers } },
      { name: 'svc-http', config: { host, port: ports.http } },
      { name: 'svc-state', config: kv },
      { name: 'svc-stream', config: { host, port: ports.streams, ...kv } },
      {
        name: 'svc-queue',
        config: {
          queue_configs: { default: {}, ...queues },
          adapter: { name: 'builtin', config: { store_method: 'in_memory' } },
        },
      },
      { name: 'svc-pubsub' },
      { name: 'svc-cron', config: kv },
    ],
  });
}
