// What the stream port of a further router and the streams of the first one say to each other.

import type { ErrorBody } from '../../../protocol/frames/frames.ts';
import type { ByteString } from '../../../protocol/json/byte-string.ts';
import type { GroupRef, StoreEvent } from '../../../store/thread/contract.ts';
import type { StreamSubscriber } from '../../taps.ts';
import type { Subscriber } from '../subscription.ts';
import type { Since } from '../target.ts';

/** Numbers are those of the router that sends the message, and are not used twice. */
export type FromOutlet =
  /** A client asks to subscribe. */
  | { readonly kind: 'join'; readonly number: number; readonly subscriber: Subscriber }
  /** A subscription that was admitted has ended. */
  | { readonly kind: 'leave'; readonly number: number }
  /** Its first subscriber in a group: it needs the events from now on. */
  | { readonly kind: 'watch'; readonly group: GroupRef }
  | { readonly kind: 'unwatch'; readonly group: GroupRef }
  | {
      readonly kind: 'read';
      readonly number: number;
      readonly subject: GroupRef & { readonly item: string | undefined };
      readonly since: Since | undefined;
    }
  /** It has handled events of this size. */
  | { readonly kind: 'taken'; readonly bytes: number }
  /** Answers come in the order of the questions. */
  | { readonly kind: 'subscribers'; readonly subscribers: readonly StreamSubscriber[] };

export type ToOutlet =
  | { readonly kind: 'joined'; readonly number: number; readonly isIn: boolean }
  | { readonly kind: 'read'; readonly number: number; readonly reply: PassedReply }
  | { readonly kind: 'events'; readonly events: readonly PassedEvent[]; readonly bytes: number }
  /** Events of the group are lost, or its numbers restart. */
  | { readonly kind: 'reset'; readonly group: GroupRef }
  /** Events of any group are lost. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'subscribers'; readonly group: GroupRef };

/** The body as a string: threads copy those faster than bytes. */
export type PassedEvent = Omit<StoreEvent, 'body'> & { readonly body: ByteString };

export interface PassedReply {
  readonly result?: Uint8Array;
  readonly error?: ErrorBody;
  readonly events: readonly PassedEvent[];
}
