// Frames that cannot be read: logged, counted, dropped, and the connection stays open (wire 1.5). Where the readable
// part shows that a caller waits for an answer, the caller gets an error at once and not a timeout.

import { Refusal } from '../../core/calls/refusal.ts';
import type { Concerned } from '../../protocol/frames/decode.ts';
import { byteStringToText, bytesToByteString } from '../../protocol/json/byte-string.ts';
import type { RouterContext } from '../context.ts';
import { chargeMessage } from '../restricted/guarded-calls.ts';
import type { Session } from '../session/session.ts';
import { outcomeOf } from './call.ts';
import { answer, settle } from './in-flight.ts';

const QUOTED_BYTES_MAX = 256;

export function refuseFrame(
  context: RouterContext,
  session: Session,
  bytes: Uint8Array,
  reason: string,
  concerns?: Concerned,
): void {
  if (session.guard !== undefined) {
    // Unreadable frames count like any other message, and may have ended the connection.
    chargeMessage(context, session, session.guard);
    if (session.state === 'closed') return;
  }
  const { counters, logger, settings } = context;
  counters.count('frames.refused');
  const head = bytes.subarray(0, QUOTED_BYTES_MAX);
  const quote = settings.logPayloads && { frame: byteStringToText(bytesToByteString(head)) };
  logger.warn('Frame dropped', { worker: session.displayName, bytes: bytes.length, reason, ...quote });
  if (concerns?.as === 'caller') answerCaller(session, concerns, reason);
  if (concerns?.as === 'executor') endCall(context, session, concerns, reason);
}

function answerCaller(session: Session, { invocationId, functionId }: Concerned, reason: string): void {
  const refusal = new Refusal('BAD_REQUEST', `The call could not be read: ${reason}`);
  answer(session, invocationId, functionId, outcomeOf(refusal));
}

/** The executor will not answer this call again, so its caller gets the reason. */
function endCall(context: RouterContext, session: Session, { invocationId }: Concerned, reason: string): void {
  const call = context.calls.find(invocationId, session);
  if (call === undefined) return;
  const refusal = new Refusal('BAD_REQUEST', `The worker's result could not be read: ${reason}`);
  settle(context, call, outcomeOf(refusal));
}
