// The input and the output of one call, where they are kept, and the way to call the function with them again (FUN-10).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { explainGaps, explainMissing } from '../../../../core/telemetry/payloads/explain-payloads.ts';
import type { StoredPayload } from '../../../../core/telemetry/payloads/stored-payload.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { formatBytes } from '../../kit/charts/times.ts';
import { FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';

interface RunPayloadsProps {
  readonly traceId: string;
  /** Of the call, or of the worker's span below it. */
  readonly spanId: string;
}

export function RunPayloads({ traceId, spanId }: RunPayloadsProps): ReactNode {
  const isReadOnly = useReadOnly();
  const { data, error, refetch } = useQuery(payloadsQuery(traceId, spanId));
  if (error !== null && data === undefined) {
    return (
      <FailedState
        error={error}
        what="The payloads"
        shows="what this call got and answered"
        retry={() => void refetch()}
      />
    );
  }
  if (data === undefined) return <Loading what="the payloads" rows={3} />;
  const { function_id: functionId, input, output, missing } = data;
  if (missing !== null) return <p className="text-muted">{explainMissing(data)}</p>;
  return (
    <div className="flex flex-col gap-3">
      {input !== null && <Payload label="Input" payload={input} />}
      {output !== null && <Payload label="Output" payload={output} />}
      {output === null && <p className="text-muted">The call has no output.</p>}
      {functionId !== null && !isReadOnly && input?.json !== null && (
        <Link
          to="/functions"
          search={{ id: functionId, tab: 'invoke', again: `${traceId}.${spanId}` }}
          className="inline-flex items-center gap-1 text-sm text-accent hover:underline"
        >
          <Play size={12} /> Run {visibleText(functionId)} again with this input
        </Link>
      )}
    </div>
  );
}

export function payloadsQuery(traceId: string, spanId: string) {
  return {
    queryKey: ['payloads', traceId, spanId],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call('GET /traces/{id}/spans/{span}/payloads', { parts: { id: traceId, span: spanId }, signal }),
  };
}

function Payload({ label, payload }: { readonly label: string; readonly payload: StoredPayload }): ReactNode {
  const { json, bytes } = payload;
  return (
    <section aria-label={label}>
      <h3 className="mb-1 text-sm font-semibold text-muted">
        {label} <span className="font-normal">{formatBytes(bytes)}</span>
      </h3>
      {json !== null && <JsonTree label={label.toLowerCase()} text={json} depth={3} maxHeight={320} />}
      {explainGaps(payload).map((sentence) => (
        <p key={sentence} className="mt-1 text-sm text-warn">
          {visibleText(sentence)}
        </p>
      ))}
    </section>
  );
}
