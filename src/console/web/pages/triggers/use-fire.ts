// One manual firing at a time: of a trigger, or of an event (TRG-4, TRG-5).

import { useState } from 'react';

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
