// Names that trusted connections of any engine have used: no restricted connection of any engine may take them, even
// while their worker is away (X9). They lie in the bucket of registrations, below no engine, and outlive all of them.

import { RESERVED_KINDS, type Reservation, type ReservedKind } from '../core/access/reservations.ts';
import { keyPart, textOfPart } from '../core/cluster/bucket-keys.ts';
import type { Bucket, BucketEntry } from '../effects/nats/bucket.ts';
import { isReservationValue } from '../generated/cluster-values.ts';
import { asRawJson, parseRawJson, textToByteString } from '../protocol/json/byte-string.ts';
import type { RouterContext } from '../router/context.ts';
import { withdrawFromRestricted } from '../router/registrations/functions.ts';
import { BucketWriter } from './bucket-writer.ts';
import type { ReservationValue } from './entry-values.ts';

/** Their place in keys. No engine has an id of this length. */
const PLACE = 'cluster.r.';

/** The value where the key has the name. */
const PLAIN = '{}';

const LETTERS: Readonly<Record<ReservedKind, string>> = {
  function: 'f',
  route: 'r',
  subscription: 's',
  'trigger type': 't',
};

export class SharedReservations {
  readonly #context: RouterContext;
  /** Their entries are the names, which the table of reservations has, too. */
  readonly #writers: Readonly<Record<ReservedKind, BucketWriter>>;
  /** Those whose key holds a digest, by key: their end names no text. */
  readonly #digested = new Map<string, Reservation>();
  #stopListening = (): void => {};

  /** `isWriter`: of the routers of a process one writes. */
  constructor(bucket: Bucket, context: RouterContext, isWriter: boolean) {
    const { reservations, clock } = context;
    this.#context = context;
    const writerOf = (kind: ReservedKind): BucketWriter =>
      new BucketWriter({
        ...{ bucket, clock },
        keyOf: (name) => `${PLACE}${LETTERS[kind]}.${keyPart(name).part}`,
        wantedOf: (name) => (reservations.has(kind, name) ? textFor(name) : undefined),
      });
    this.#writers = {
      function: writerOf('function'),
      route: writerOf('route'),
      subscription: writerOf('subscription'),
      'trigger type': writerOf('trigger type'),
    };
    if (!isWriter) return;
    this.#stopListening = reservations.onChange(({ kind, name }) => this.#writers[kind].note(name));
    for (const { kind, name } of reservations.all()) this.#writers[kind].note(name);
  }

  /** A change in the bucket. Returns false for keys that are no reservations. */
  entry({ key, value }: BucketEntry): boolean {
    if (!key.startsWith(PLACE)) return false;
    const reservation = this.#digested.get(key) ?? reservationAt(key, value);
    if (reservation === undefined) return true;
    if (value === undefined) this.#digested.delete(key);
    else if (keyPart(reservation.name).isDigest) this.#digested.set(key, reservation);
    const { kind, name } = reservation;
    // One text for all of them: there can be as many as functions.
    this.#writers[kind].known(name, value === PLAIN ? PLAIN : value);
    const { reservations } = this.#context;
    if (value === undefined) reservations.release(kind, name);
    else if (!reservations.has(kind, name)) {
      reservations.reserve(kind, name);
      // Its worker may be gone again before this engine learns of it.
      if (kind === 'function') withdrawFromRestricted(this.#context, name, 'trusted');
    }
    return true;
  }

  stop(): void {
    this.#stopListening();
    for (const kind of RESERVED_KINDS) this.#writers[kind].stop();
  }
}

function textFor(name: string): string {
  const value: ReservationValue = { name };
  return keyPart(name).isDigest ? JSON.stringify(value) : PLAIN;
}

/** `undefined`: this version does not know the kind, or a name that only its value held is gone. */
function reservationAt(key: string, text: string | undefined): Reservation | undefined {
  const [letter, part] = key.slice(PLACE.length).split('.');
  const kind = RESERVED_KINDS.find((one) => LETTERS[one] === letter);
  if (kind === undefined || part === undefined) return undefined;
  const value: unknown = text === undefined ? {} : parseRawJson(asRawJson(textToByteString(text)));
  if (!isReservationValue(value)) return undefined;
  return { kind, name: value.name ?? textOfPart(part) };
}
