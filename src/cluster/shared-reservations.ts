// Names that trusted connections of any engine have used: no restricted connection of any engine may take them, even
// while their worker is away (X9). They lie in the bucket of registrations, below no engine, and outlive all of them.

import { RESERVED_KINDS, type Reservation, type ReservedKind } from '../core/access/reservations.ts';
import { keyPart, textOfPart } from '../core/cluster/bucket-keys.ts';
import type { Bucket, BucketEntry } from '../effects/nats/bucket.ts';
import { isReservationValue } from '../generated/cluster-values.ts';
import { asRawJson, detach, parseRawJson, textToByteString } from '../protocol/json/byte-string.ts';
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
  readonly #writer: BucketWriter;
  /** Those whose key holds a digest, by key: their end names no text. */
  readonly #digested = new Map<string, Reservation>();
  #stopListening = (): void => {};

  /** `isWriter`: of the routers of a process one writes. */
  constructor(bucket: Bucket, context: RouterContext, isWriter: boolean) {
    const { reservations, clock } = context;
    this.#context = context;
    this.#writer = new BucketWriter({
      ...{ bucket, clock, keyOf },
      wantedOf: (entry) => (reservations.has(...read(entry)) ? textFor(entry) : undefined),
    });
    if (!isWriter) return;
    this.#stopListening = reservations.onChange((change) => this.#writer.note(entryOf(change)));
    for (const reservation of reservations.all()) this.#writer.note(entryOf(reservation));
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
    this.#writer.known(entryOf(reservation), value === PLAIN ? PLAIN : value);
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
    this.#writer.stop();
  }
}

/** The reservation as one text, which is kept. */
function entryOf({ kind, name }: Reservation): string {
  return detach(`${LETTERS[kind]}${name}`);
}

function read(entry: string): [kind: ReservedKind, name: string] {
  return [kindOf(entry[0]) ?? 'function', entry.slice(1)];
}

function kindOf(letter: string | undefined): ReservedKind | undefined {
  return RESERVED_KINDS.find((kind) => LETTERS[kind] === letter);
}

function keyOf(entry: string): string {
  const [kind, name] = read(entry);
  return `${PLACE}${LETTERS[kind]}.${keyPart(name).part}`;
}

function textFor(entry: string): string {
  const [, name] = read(entry);
  const value: ReservationValue = { name };
  return keyPart(name).isDigest ? JSON.stringify(value) : PLAIN;
}

/** `undefined`: this version does not know the kind, or a name that only its value held is gone. */
function reservationAt(key: string, text: string | undefined): Reservation | undefined {
  const [letter, part] = key.slice(PLACE.length).split('.');
  const kind = kindOf(letter);
  if (kind === undefined || part === undefined) return undefined;
  const value: unknown = text === undefined ? {} : parseRawJson(asRawJson(textToByteString(text)));
  if (!isReservationValue(value)) return undefined;
  return { kind, name: value.name ?? textOfPart(part) };
}
