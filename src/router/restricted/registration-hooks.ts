// Functions that decide whether a connection may register something, and under which name (wire 8.5). While one is
// asked, later registrations and withdrawals of that connection wait, so their order is kept.

import { Refusal } from '../../core/calls/refusal.ts';
import { asRawJson, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { errorLine, type Outcome } from '../calls/call.ts';
import { callLocally } from '../calls/call-locally.ts';
import type { RouterContext } from '../context.ts';
import type { Session } from '../session/session.ts';
import type { Guard, WaitingStep } from './guard.ts';

/** What the hook wants to change; empty without a hook. */
export type Changes = Readonly<Record<string, unknown>>;

/** Runs the step when the earlier ones are done. False: too many wait already. */
export function inTurn(guard: Guard, step: WaitingStep): boolean {
  if (guard.awaited === 0) {
    step.run();
    return true;
  }
  if (guard.waitingBytes + step.bytes > WAITING_BYTES_MAX) return false;
  guard.waiting.push(step);
  guard.waitingBytes += step.bytes;
  return true;
}

/** Enough for a reconnecting client to replay all that it may register. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Asks the hook, if there is one. Any answer but an object is a refusal, and so are errors and silence (X6). */
export function askHook(
  context: RouterContext,
  session: Session,
  guard: Guard,
  hook: { readonly functionId: string | undefined; readonly input: Readonly<Record<string, RawJson | undefined>> },
  done: (changes: Changes | Refusal) => void,
): void {
  const { functionId, input } = hook;
  if (functionId === undefined) {
    done({});
    return;
  }
  const goOn = holdTurns(session, guard);
  const own = rawJson(guard.rules.access?.grant.context ?? {});
  const payload = Payload.ofText(objectOf({ ...input, context: own }));
  const timeoutMs = guard.rules.askMsMax;
  const call = {
    functionId,
    payload,
    depth: 0,
    timeoutMs,
    decides: true,
    isForRestricted: session.access !== undefined,
  };
  callLocally(context, call, (outcome) => {
    goOn(() => {
      if (session.state === 'open') done(verdictOf(context, functionId, outcome));
    });
  });
}

/** Registrations of the connection wait until the returned function is called, which does `first` before them. */
export function holdTurns(session: Session, guard: Guard): (first?: () => void) => void {
  guard.awaited++;
  return (first) => {
    guard.awaited--;
    first?.();
    takeTurns(session, guard);
  };
}

/**
 * A hook may be answered at once, by a refusal, while its step is on the stack: the outermost call takes all steps,
 * because a thousand of those within each other would overflow the stack.
 */
function takeTurns(session: Session, guard: Guard): void {
  if (guard.isTakingTurns) return;
  guard.isTakingTurns = true;
  while (guard.awaited === 0 && session.state === 'open') {
    const next = guard.waiting.shift();
    if (next === undefined) break;
    guard.waitingBytes -= next.bytes;
    next.run();
  }
  guard.isTakingTurns = false;
  if (session.state === 'closed') guard.waiting.length = 0;
}

function verdictOf(context: RouterContext, functionId: string, { result, error }: Outcome): Changes | Refusal {
  const text = result?.asText();
  const value: unknown = error === undefined && text !== undefined ? parseRawJson(text) : undefined;
  if (isRecord(value)) return value;
  const errorText = error?.asText();
  const reason = errorText === undefined ? 'it did not answer with an object' : errorLine(errorText);
  context.logger.warn('A registration hook said no', { function_id: functionId, reason });
  return new Refusal('FORBIDDEN', 'The registration hook of this port refused it');
}

function objectOf(members: Readonly<Record<string, RawJson | undefined>>): RawJson {
  const texts = Object.entries(members).map(([key, value]) => `${JSON.stringify(key)}:${value ?? 'null'}`);
  return asRawJson(`{${texts.join(',')}}`);
}

function isRecord(value: unknown): value is Changes {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
