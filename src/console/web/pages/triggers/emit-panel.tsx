// Emits an event by hand, and shows what it fired (TRG-5).

import { Link } from '@tanstack/react-router';
import { Megaphone } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Emitted } from '../../../api/registry.ts';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { useDraft } from '../../data/drafts.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { TraceLink } from './firings.tsx';
import { type KindPanelProps, Section, useFire } from './kind-panel.tsx';
import { configOf, topicIn } from './logic/trigger-kinds.ts';

export function EmitPanel({ detail, readOnly, fired }: KindPanelProps): ReactNode {
  const topic = topicIn(configOf(detail.config));
  const [name, setName] = useState(topic);
  const draft = useDraft(`emit.${topic}`, '{}');
  const problem = jsonProblem(draft.text);
  const isPattern = name.includes('*');
  const isBlocked = problem !== undefined || name === '' || isPattern;
  const fire = useFire(
    () => call('POST /events/emit', { text: `{"name":${JSON.stringify(name)},"payload":${draft.text}}` }),
    fired,
  );
  const run = (): void => {
    if (!isBlocked && !readOnly) fire.start();
  };
  useKeys([
    { keys: ['mod+enter'], name: 'Emit', inInputs: true, run },
    { keys: ['r'], name: 'Emit again', run },
  ]);
  if (readOnly) return undefined;
  return (
    <Section title="Emit this event">
      <Field label="Event" error={isPattern ? 'Replace * with a name' : undefined}>
        {(ids) => (
          <Input
            {...ids}
            className="font-mono"
            value={name}
            aria-invalid={isPattern}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <JsonInput
        label="Payload"
        value={draft.text}
        onChange={draft.set}
        onRun={run}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" icon={<Megaphone size={13} />} disabled={isBlocked || fire.isRunning} onClick={run}>
          Emit
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
      </div>
      {fire.answer !== undefined && <EmittedList emitted={fire.answer} />}
      {fire.error !== undefined && <ErrorCard error={fire.error} what="Emitting the event" />}
    </Section>
  );
}

function EmittedList({ emitted }: { readonly emitted: Emitted }): ReactNode {
  const { fired } = emitted;
  return (
    <div role="status" className="flex flex-col gap-1">
      <p className="text-muted">
        {fired.length === 0 ? 'No trigger is bound to it.' : `Fired ${fired.length} of its triggers:`}
      </p>
      <ul>
        {fired.map(({ trigger_id: id, function_id: functionId, trace_id: trace }) => (
          <li key={id} className="flex min-h-7 items-center gap-3">
            <Link
              to="/functions"
              search={{ id: functionId }}
              className="min-w-0 flex-1 truncate font-mono text-accent hover:underline"
            >
              {visibleText(functionId)}
            </Link>
            {trace === null ? <span className="text-faint">not sampled</span> : <TraceLink id={trace} />}
          </li>
        ))}
      </ul>
    </div>
  );
}
