// Enqueues a test job (QUE-4), and shows the same call as text to copy.

import { useQuery } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type ComponentProps, type ReactNode, useState } from 'react';
import type { QueueDetail } from '../../../api/queues.ts';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { useDraft } from '../../data/drafts.ts';
import { refetchSoon } from '../../data/queries.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge, Status } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyAs, CopyId } from '../../kit/inputs/copy.tsx';
import { Field, Input, SuggestInput } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';

type Outcome = { readonly receipt: string | null } | { readonly error: unknown };

export function PublishTab({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const isTopic = queue.type === 'topic';
  const draft = useDraft(`publish.${queue.name}`, '{}');
  const [functionId, setFunctionId] = useState('');
  const [delay, setDelay] = useState('');
  const [key, setKey] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const problem = jsonProblem(draft.text);
  const delayMs = delay.trim() === '' ? undefined : Number(delay);
  const isDelayBad = delayMs !== undefined && !(Number.isInteger(delayMs) && delayMs >= 0);
  const isNameless = !isTopic && functionId.trim() === '';
  const isBlocked = problem !== undefined || isDelayBad || isNameless;
  const send = (): void => {
    if (isBlocked) return;
    const options = {
      ...(!isTopic && { function_id: functionId.trim() }),
      ...(delayMs !== undefined && { delay_ms: delayMs }),
      ...(key !== '' && { idempotency_key: key }),
    };
    const payload = draft.text.trim() === '' ? 'null' : draft.text;
    const head = JSON.stringify(options).slice(0, -1);
    const text = `${head}${head === '{' ? '' : ','}"payload":${payload}}`;
    void publish(queue.name, text).then(setOutcome);
  };
  useKeys([{ keys: ['mod+enter'], name: 'Publish', inInputs: true, run: send }]);
  return (
    <div className="flex h-full max-w-3xl flex-col gap-3 overflow-y-auto p-4">
      {!isTopic && (
        <div className="flex flex-wrap gap-3">
          <Field label="Function" className="min-w-48 flex-1">
            {(ids) => (
              <FunctionInput {...ids} value={functionId} onChange={(event) => setFunctionId(event.target.value)} />
            )}
          </Field>
          <Field label="Delay, ms" className="w-28" error={isDelayBad ? 'a whole number' : undefined}>
            {(ids) => (
              <Input {...ids} inputMode="numeric" value={delay} onChange={(event) => setDelay(event.target.value)} />
            )}
          </Field>
          <Field label="Idempotency key" className="w-44">
            {(ids) => <Input {...ids} value={key} onChange={(event) => setKey(event.target.value)} />}
          </Field>
        </div>
      )}
      <JsonInput
        label="Payload"
        value={draft.text}
        onChange={draft.set}
        onRun={send}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" icon={<Send size={13} />} disabled={isBlocked} onClick={send}>
          Publish
        </Button>
        {!isTopic && (
          <CopyAs
            call={{ functionId: functionId.trim(), payloadText: draft.text, mode: 'enqueue', queue: queue.name }}
          />
        )}
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {isNameless && <span className="text-sm text-muted">Enter the function that runs the job.</span>}
      </div>
      {outcome !== undefined && <Published outcome={outcome} queue={queue.name} />}
    </div>
  );
}

/** Suggests registered functions. */
function FunctionInput(rest: ComponentProps<'input'>): ReactNode {
  const { data } = useQuery({
    queryKey: ['functions', 'ids'],
    queryFn: ({ signal }) => call('GET /functions', { query: { limit: 1_000 }, signal }),
  });
  return <SuggestInput {...rest} options={data?.items.map(({ function_id: id }) => id) ?? []} />;
}

async function publish(queue: string, text: string): Promise<Outcome> {
  try {
    const { messageReceiptId: receipt } = await call('POST /queues/{queue}/publish', { parts: { queue }, text });
    refetchSoon(['queue', queue]);
    return { receipt };
  } catch (error) {
    return { error };
  }
}

function Published({ outcome, queue }: { readonly outcome: Outcome; readonly queue: string }): ReactNode {
  if ('error' in outcome) return <ErrorCard error={outcome.error} what="Publishing" />;
  return (
    <section aria-label="Result" role="status" className="flex flex-wrap items-center gap-3">
      <Status tone="good" word="Published" />
      {outcome.receipt === null ? (
        <span className="text-muted">to every subscriber of the topic</span>
      ) : (
        <CopyId id={outcome.receipt} what="receipt" to="/queues" search={{ queue, id: outcome.receipt }} />
      )}
    </section>
  );
}
