// Alert rules with their state, and how traces and logs are sampled (CFG-2).

import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { AlertRow, Sampling } from '../../../api/telemetry.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { queryClient } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatShare } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, Snippet } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Status } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { Card, Properties } from '../../kit/layout/page.tsx';
import { rateOf } from './sampling.ts';

const ALERT_EXAMPLE = `workers:
  - name: svc-observability
    config:
      alerts:
        - name: failing calls
          metric: svc.invocations.error
          threshold: 10`;

export function AlertsTab(): ReactNode {
  const readOnly = useReadOnly();
  const { data, error, refetch } = useQuery({
    queryKey: ['alerts'],
    queryFn: ({ signal }) => call('GET /alerts', { signal }),
  });
  useLive('health', { items: () => void refetch() });
  const evaluate = useMutation({
    mutationFn: () => call('POST /alerts/evaluate', { body: {} }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['alerts'] }),
  });
  if (data === undefined) {
    if (error === null) return <Loading what="the alerts" />;
    return <FailedState error={error} what="Alerts" shows="every rule" retry={() => void refetch()} />;
  }
  if (data.alerts.length === 0) {
    return (
      <EmptyState title="No alert rules">
        <p>
          A rule watches a metric and says when it is over a threshold. They are a list of the observability module:
        </p>
        <Snippet label="configuration" text={ALERT_EXAMPLE} />
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4 p-4">
      {evaluate.error !== null && <ErrorCard error={evaluate.error} what="Evaluating the alerts" />}
      <Card
        title="Alert rules"
        actions={
          readOnly ? undefined : (
            <Button disabled={evaluate.isPending} onClick={() => evaluate.mutate()}>
              Evaluate now
            </Button>
          )
        }
        flush
      >
        <ul>
          {data.alerts.map((alert) => (
            <Alert key={alert.name} alert={alert} />
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Alert({ alert }: { readonly alert: AlertRow }): ReactNode {
  const { name, metric, operator, threshold, window_seconds, firing, enabled, current_value, last_triggered } = alert;
  const tone = firing ? 'bad' : enabled ? 'good' : 'idle';
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-2 last:border-0">
      <span className="w-20">
        <Status tone={tone} word={firing ? 'Firing' : enabled ? 'Quiet' : 'Off'} />
      </span>
      <span className="min-w-32 flex-1 font-medium">{name}</span>
      <code className="text-muted">
        {metric} {operator} {threshold} over {window_seconds} s
      </code>
      <span className="w-28 text-right max-sm:w-auto">
        {current_value === null ? 'no value yet' : `now ${current_value}`}
      </span>
      <span className="w-28 text-right text-muted max-sm:w-auto">
        {last_triggered === null ? 'never fired' : <Time ms={last_triggered} />}
      </span>
    </li>
  );
}

export function SamplingTab(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['sampling'],
    queryFn: ({ signal }) => call('GET /sampling', { signal }),
  });
  if (data === undefined) {
    if (error === null) return <Loading what="the sampling rules" />;
    return <FailedState error={error} what="Sampling" shows="the rules" retry={() => void refetch()} />;
  }
  return (
    <div className="grid gap-4 p-4 lg:grid-cols-2">
      <Card title="Rules: the first match applies" flush>
        <ul>
          {data.traces.rules.map(({ operation, service, rate }) => (
            <li
              key={`${operation} ${service}`}
              className="flex min-h-9 items-center gap-3 border-b border-line px-3 py-1"
            >
              <code className="min-w-0 flex-1 truncate">{operation ?? 'every operation'}</code>
              <code className="text-muted">{service ?? 'every service'}</code>
              <span>{formatShare(rate)}</span>
            </li>
          ))}
          <li className="flex min-h-9 items-center gap-3 px-3 py-1">
            <span className="flex-1">Everything else</span>
            <span>{formatShare(data.traces.default_ratio)}</span>
          </li>
        </ul>
      </Card>
      <SamplingTest sampling={data} />
    </div>
  );
}

function SamplingTest({ sampling }: { readonly sampling: Sampling }): ReactNode {
  const [operation, setOperation] = useState('');
  const [service, setService] = useState('');
  const found = rateOf(sampling, operation, service);
  return (
    <Card title="Which rule applies?">
      <div className="flex flex-col gap-3">
        <Field label="Operation (name of the span)">
          {(ids) => <Input {...ids} value={operation} onChange={({ target }) => setOperation(target.value)} />}
        </Field>
        <Field label="Service">
          {(ids) => <Input {...ids} value={service} onChange={({ target }) => setService(target.value)} />}
        </Field>
        <Properties
          rows={[
            ['Rule', found.rule === undefined ? 'none: the default' : `number ${found.rule + 1}`],
            ['Kept', formatShare(found.rate)],
            ['Follows its caller', sampling.traces.parent_based ? 'yes' : 'no'],
            ['Logs kept', formatShare(sampling.logs.sampling_ratio)],
          ]}
        />
      </div>
    </Card>
  );
}
