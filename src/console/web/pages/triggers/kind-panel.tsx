// What the panels of a trigger share: their frame, and one manual firing at a time, of a trigger or of an event (TRG-4,
// TRG-5).

import { type ReactNode, useState } from 'react';
import type { TriggerDetail } from '../../../api/registry.ts';

export interface KindPanelProps {
  readonly detail: TriggerDetail;
  /** Firing is disabled here. */
  readonly readOnly: boolean;
  /** Reads the firings again. */
  readonly fired: () => void;
}

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h3 className="text-sm font-semibold text-muted">{title}</h3>
      {children}
    </section>
  );
}

export interface FireState<Answer> {
  readonly answer: Answer | undefined;
  readonly error: unknown;
  readonly isRunning: boolean;
  readonly start: () => void;
}

export function useFire<Answer>(send: () => Promise<Answer>, done: () => void): FireState<Answer> {
  const [state, setState] = useState<Omit<FireState<Answer>, 'start'>>({
    answer: undefined,
    error: undefined,
    isRunning: false,
  });
  const start = (): void => {
    if (state.isRunning) return;
    setState((now) => ({ ...now, isRunning: true }));
    send().then(
      (answer) => {
        setState({ answer, error: undefined, isRunning: false });
        done();
      },
      (error: unknown) => setState({ answer: undefined, error, isRunning: false }),
    );
  };
  return { ...state, start };
}
