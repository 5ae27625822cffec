import { describe, expect, test } from 'vitest';
import {
  metricIntervalMs,
  type OtlpSettings,
  otlpOffences,
  otlpTarget,
} from '../../../../../src/core/telemetry/records/settings.ts';

const NOTHING: OtlpSettings = { endpoint: undefined, protocol: undefined, headers: undefined, timeoutMs: undefined };

describe('the target of an export', () => {
  test('[modules 11.1] is a gRPC collector on port 4317 by default', () => {
    expect(otlpTarget('traces', NOTHING, {})).toMatchObject({ protocol: 'grpc', url: 'http://localhost:4317' });
  });

  test('[modules 11.1] is port 4318 with the path of the signal for HTTP', () => {
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' };
    expect(otlpTarget('logs', NOTHING, env)).toMatchObject({ url: 'http://localhost:4318/v1/logs' });
    const settings = { ...NOTHING, endpoint: 'https://collector:443/otlp/' };
    expect(otlpTarget('metrics', settings, env).url).toBe('https://collector:443/otlp/v1/metrics');
  });

  test('[modules 11.1] comes from the file, else from the variable of the signal, else from the common variable', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4317',
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://logs:1234',
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ' ',
    };
    expect(otlpTarget('traces', NOTHING, env)).toMatchObject({ protocol: 'grpc', url: 'http://all:4317' });
    expect(otlpTarget('logs', NOTHING, env)).toMatchObject({ protocol: 'http/protobuf', url: 'http://logs:1234' });
    const file = { endpoint: 'http://file:4317', protocol: 'grpc', headers: { a: 'b' }, timeoutMs: 5 } as const;
    expect(otlpTarget('logs', file, env)).toEqual({
      protocol: 'grpc',
      url: 'http://file:4317',
      headers: { a: 'b' },
      timeoutMs: 5,
    });
  });

  test('[modules 11.1] is refused if it is invalid, with the name and the expected form', () => {
    const env = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'collector:4317',
      OTEL_METRIC_EXPORT_INTERVAL: '10s',
    };
    expect(otlpOffences(NOTHING, env)).toEqual([
      "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json': expected one of grpc, http/protobuf",
      "The OTLP endpoint for metrics is 'collector:4317': expected http://host:port or https://host:port",
      "OTEL_METRIC_EXPORT_INTERVAL is '10s': expected 1 to 3600000 milliseconds",
    ]);
    expect(otlpOffences(NOTHING, {})).toEqual([]);
  });

  test('receives metrics every minute unless the variable is set', () => {
    expect(metricIntervalMs({})).toBe(60_000);
    expect(metricIntervalMs({ OTEL_METRIC_EXPORT_INTERVAL: '250' })).toBe(250);
  });
});
