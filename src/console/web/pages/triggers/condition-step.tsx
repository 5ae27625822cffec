// The condition of a trigger: it is called first, and where it returns `false` the function is not called (TRG-7).

import { ArrowDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TriggerDetail } from '../../../api/registry.ts';
import { apiText } from '../../data/api.ts';
import { useDraft } from '../../data/drafts.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Status } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { invokeText } from '../../kit/inputs/call-text.ts';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Section, useFire } from './kind-panel.tsx';

interface ConditionProps {
  readonly functionId: string;
  readonly detail: TriggerDetail;
  readonly readOnly: boolean;
}

const SHOWN_CHARS = 200;

export function ConditionStep({ functionId, detail, readOnly }: ConditionProps): ReactNode {
  return (
    <Section title="Condition">
      <div className="flex flex-col gap-2 rounded-md border border-line p-2">
        <p className="flex flex-wrap items-center gap-2">
          <span className="text-muted">First calls</span>
          <CopyId id={functionId} what="condition" to="/functions" search={{ id: functionId }} />
        </p>
        {!readOnly && <Evaluation functionId={functionId} detail={detail} />}
      </div>
      <p className="flex flex-wrap items-center gap-2 text-muted">
        <ArrowDown size={14} />
        <span>
          then, unless it returns <code>false</code>, calls
        </span>
        <CopyId id={detail.function_id} what="function id" to="/functions" search={{ id: detail.function_id }} />
      </p>
    </Section>
  );
}

function Evaluation({ functionId, detail }: Omit<ConditionProps, 'readOnly'>): ReactNode {
  const draft = useDraft(`condition.${functionId}`, JSON.stringify(detail.sample ?? {}, undefined, 2));
  const problem = jsonProblem(draft.text);
  const asked = useFire(
    async () => {
      const text = invokeText({ functionId, payloadText: draft.text, mode: 'wait' });
      return (await apiText('/invoke', { method: 'POST', text })).text;
    },
    () => {},
  );
  return (
    <>
      <JsonInput label="Event to evaluate" value={draft.text} onChange={draft.set} onRun={asked.start} minLines={3} />
      <div className="flex flex-wrap items-center gap-3">
        <Button disabled={problem !== undefined || asked.isRunning} onClick={asked.start}>
          Evaluate now
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {asked.answer !== undefined && <Verdict answer={asked.answer} />}
      </div>
      {asked.error !== undefined && (
        <>
          <p className="text-warn">A condition that fails counts as false: the function would not be called.</p>
          <ErrorCard error={asked.error} what="Calling the condition" />
        </>
      )}
    </>
  );
}

/** Only a literal `false` prevents the call. */
function Verdict({ answer }: { readonly answer: string }): ReactNode {
  const isNo = answer.trim() === 'false';
  const said = visibleText(answer === '' ? 'nothing' : answer.slice(0, SHOWN_CHARS));
  return (
    <span role="status">
      <Status
        tone={isNo ? 'warn' : 'good'}
        word={`It returned ${said}: the function ${isNo ? 'is not called' : 'is called'}`}
      />
    </span>
  );
}
