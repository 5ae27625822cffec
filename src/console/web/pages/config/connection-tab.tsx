// Whether all parts are reachable, and which versions run (CFG-1).

import { type ReactNode, useEffect, useState } from 'react';
import type { Status as EngineStatus } from '../../../api/system.ts';
import { call } from '../../data/api.ts';
import { useConsoleInfo } from '../../data/connection.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount, formatDuration, formatSpan } from '../../kit/charts/times.ts';
import { Snippet } from '../../kit/feedback/empty-state.tsx';
import { Shape, Status, WordStatus } from '../../kit/feedback/status.tsx';
import { Card, Properties } from '../../kit/layout/page.tsx';

const PROBE_MS = 5_000;

/** The connection from this page through the console's server to the engine and back. */
function useLatency(): number | undefined {
  const [ms, setMs] = useState<number>();
  useEffect(() => {
    const probe = (): void => {
      const startedAt = performance.now();
      call('GET /status').then(
        () => setMs(performance.now() - startedAt),
        () => setMs(undefined),
      );
    };
    probe();
    const timer = setInterval(probe, PROBE_MS);
    return () => clearInterval(timer);
  }, []);
  return ms;
}

export function ConnectionTab({ status }: { readonly status: EngineStatus }): ReactNode {
  const info = useConsoleInfo();
  const latency = useLatency();
  const mismatch = info !== undefined && info.version !== status.version;
  return (
    <div className="grid gap-4 p-4 lg:grid-cols-2">
      {mismatch && (
        <p
          role="alert"
          className="flex items-center gap-2 rounded-lg border border-warn bg-warn-soft p-3 text-warn lg:col-span-2"
        >
          <Shape tone="warn" /> This console is {info.version}, the engine is {status.version}. Run both from one
          release.
        </p>
      )}
      <Card title="Engine">
        <Properties
          rows={[
            ['State', <WordStatus key="state" word={status.draining ? 'draining' : status.status} />],
            ['Version', status.version],
            ['Console', info?.version ?? '…'],
            ['Running since', <Time key="since" ms={status.started_at} />],
            ['Uptime', formatSpan(status.uptime_ms)],
            ['WebSockets', status.transport],
            ['Node.js', status.node_version],
            [
              'Overload',
              status.overload_level === 0
                ? 'none'
                : `level ${status.overload_level}: ${status.overload_reasons.join(', ')}`,
            ],
          ]}
        />
      </Card>
      <Card title="Ports" flush>
        <ul>
          <Port
            name="HTTP API, from this browser"
            address={info?.engine.http_url ?? '…'}
            ok={latency !== undefined}
            note={latency === undefined ? 'Not reached' : formatDuration(latency)}
          />
          <Port
            name="Bridge, from the console"
            address={info?.engine.bridge_url ?? '…'}
            ok={info?.engine.connected === true}
            note={info?.engine.connected === true ? 'Connected' : (info?.engine.error ?? 'Not connected')}
          />
          {status.ports.map(({ name, address }) => (
            <Port key={`${name} ${address}`} name={PORT_NAMES[name] ?? name} address={address} ok note="Listening" />
          ))}
        </ul>
      </Card>
      <Modules status={status} />
      <Telemetry status={status} />
    </div>
  );
}

/** The clients that each listener of the engine serves. */
const PORT_NAMES: Readonly<Record<string, string>> = {
  workers: 'Port for workers',
  http: 'Port for HTTP',
  streams: 'Port for streams',
};

function Port({ name, address, ok, note }: { name: string; address: string; ok: boolean; note: string }): ReactNode {
  return (
    <li className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1 last:border-0">
      <div className="flex min-w-0 flex-1 gap-x-3 max-sm:flex-col">
        <span className="w-44 shrink-0 text-muted">{name}</span>
        <code className="min-w-0 flex-1 break-all">{address}</code>
      </div>
      <Status tone={ok ? 'good' : 'bad'} word={note} />
    </li>
  );
}

function Modules({ status }: { readonly status: EngineStatus }): ReactNode {
  return (
    <Card title="Modules" flush>
      <ul>
        {status.modules.map(({ name, status: word, adapter }) => (
          <li key={name} className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1 last:border-0">
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="text-muted">{adapter ?? ''}</span>
            <span className="flex w-20 shrink-0">
              <WordStatus word={word} />
            </span>
          </li>
        ))}
        {status.absent_modules.map(({ name, snippet }) => (
          <li key={name} className="border-b border-line px-3 py-1 last:border-0">
            <details>
              <summary className="flex min-h-7 items-center gap-3 text-muted">
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <span className="flex w-20 shrink-0">
                  <Status tone="idle" word="Not loaded" />
                </span>
              </summary>
              <div className="py-2">
                <Snippet text={snippet} label="configuration" />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Telemetry({ status: { telemetry } }: { readonly status: EngineStatus }): ReactNode {
  const on = (is: boolean): ReactNode => <Status tone={is ? 'good' : 'idle'} word={is ? 'On' : 'Off'} />;
  return (
    <Card title="Telemetry">
      <Properties
        rows={[
          ['Module', on(telemetry.enabled)],
          ['Traces', on(telemetry.traces)],
          ['Logs', on(telemetry.logs)],
          ['Metrics', on(telemetry.metrics)],
          ['Exporter', telemetry.exporter ?? 'none'],
          ['Service name', telemetry.service_name ?? '–'],
          ['Dropped', formatCount(telemetry.dropped)],
        ]}
      />
    </Card>
  );
}
