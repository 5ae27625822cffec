// Asks for the token that this console was started with, once for each tab (APP-4).

import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { queryClient } from '../data/queries.ts';
import { session, setToken } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { Button } from '../kit/inputs/button.tsx';
import { Field, Input } from '../kit/inputs/field.tsx';

export function TokenGate(): ReactNode {
  const [text, setText] = useState('');
  const { token } = useStore(session);
  return (
    <form
      className="mx-auto flex w-full max-w-sm flex-col gap-4 px-4 pt-[16vh]"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(text);
        void queryClient.invalidateQueries();
      }}
    >
      <KeyRound size={28} className="text-faint" />
      <h1 className="text-xl font-semibold">This console requires a token</h1>
      <p className="text-muted">
        It was started with <code>--token-file</code> or <code>SVC_TOKEN</code>. The token stays in this tab and is
        never part of an address.
      </p>
      <Field label="Token" error={token === undefined ? undefined : 'The console does not accept this token.'}>
        {(ids) => (
          <Input
            {...ids}
            type="password"
            autoFocus
            value={text}
            aria-invalid={token !== undefined}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Button look="primary" type="submit" disabled={text === ''}>
        Continue
      </Button>
    </form>
  );
}
