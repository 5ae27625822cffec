// Triggers that wait for a change elsewhere: where to make it, the depth of a queue, and a manual firing (TRG-6).

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { useDraft } from '../../data/drafts.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import type { SchemaNode } from '../../kit/json/logic/schema-at.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { TraceLink } from './firings.tsx';
import { type KindPanelProps, Section, useFire } from './kind-panel.tsx';
import { configOf, kindOf, pageOfChange, topicIn } from './logic/trigger-kinds.ts';

export function WatchPanel(props: KindPanelProps): ReactNode {
  const { detail, readOnly } = props;
  const config = configOf(detail.config);
  const page = pageOfChange(detail.trigger_type, config);
  return (
    <>
      {kindOf(detail.trigger_type) === 'queue' && <QueueDepth topic={topicIn(config)} />}
      {page !== undefined && (
        <Link to={page.to} search={page.search} className="self-start text-accent hover:underline">
          {page.label}
        </Link>
      )}
      {!readOnly && <FireByHand {...props} />}
    </>
  );
}

function QueueDepth({ topic }: { readonly topic: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['queues', 'of topic', topic],
    queryFn: ({ signal }) => call('GET /queues', { query: { q: topic, limit: 50 }, signal }),
    refetchInterval: 2_000,
  });
  if (data === undefined) return undefined;
  return (
    <Section title="Its queues">
      {data.items.length === 0 && <p className="text-muted">No queue has received a message of this topic yet.</p>}
      <ul>
        {data.items.map(({ name, waiting, dead }) => (
          <li key={name} className="flex min-h-7 items-center gap-3">
            <Link
              to="/queues"
              search={{ queue: name }}
              className="min-w-0 flex-1 truncate font-mono text-accent hover:underline"
            >
              {visibleText(name)}
            </Link>
            <span>{formatCount(waiting)} waiting</span>
            {dead > 0 && <Badge tone="bad">{formatCount(dead)} dead letters</Badge>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** For handlers that are easier to fire by hand than by their event. */
function FireByHand({ detail, fired }: KindPanelProps): ReactNode {
  const draft = useDraft(`fire.${detail.trigger_type}.${detail.function_id}`, startOf(detail.sample));
  const problem = jsonProblem(draft.text);
  const fire = useFire(
    () => call('POST /triggers/{id}/fire', { parts: { id: detail.id }, text: `{"payload":${draft.text}}` }),
    fired,
  );
  return (
    <Section title="Fire it by hand">
      <JsonInput
        label="Payload"
        value={draft.text}
        onChange={draft.set}
        onRun={() => problem === undefined && fire.start()}
        schema={detail.payload_schema as SchemaNode | null}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button icon={<Zap size={13} />} disabled={problem !== undefined || fire.isRunning} onClick={fire.start}>
          Fire
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {fire.answer !== undefined && (
          <span role="status" className="flex items-center gap-3 text-muted">
            Handed to {visibleText(fire.answer.function_id)}
            {fire.answer.trace_id !== null && <TraceLink id={fire.answer.trace_id} />}
          </span>
        )}
      </div>
      {fire.error !== undefined && <ErrorCard error={fire.error} what="Firing the trigger" />}
    </Section>
  );
}

function startOf(sample: unknown): string {
  return JSON.stringify(sample ?? {}, undefined, 2);
}
