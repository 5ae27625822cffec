// The engine's state for compact payloads: the shapes that payloads refer to by number, one table for all connections.
// Until the engine ends, a number means the same key list wherever a payload is passed on to.
//
// A number is assigned once and never taken back, because payloads that use it may be in transit. The table is bounded:
// SHAPES_MAX key lists of SHAPE_TEXT_BYTES_MAX each. A payload whose shape has no number carries its keys.

import { type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { nodeText } from '../../protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../protocol/payload/compact-decode.ts';
import type { PackedForm } from '../../protocol/payload/payload.ts';
import { readShape, SHAPES_MAX, type Shape } from '../../protocol/payload/shape.ts';

interface Entry {
  readonly shape: Shape;
  /** The key list as it is sent to connections. */
  readonly keyList: string;
}

export class ShapeTable {
  readonly #entries: Entry[] = [];
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#entries.length;
  }

  /** The number of a key list in JSON. Undefined: no object can have these keys. -1: the table is full. */
  numberOf(keyList: string): number | undefined {
    const shape = readShape(keyList);
    if (shape === undefined) return undefined;
    // Printed again, so that white space and escapes create no second entry.
    const text = JSON.stringify(shape.keys);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#entries.length === SHAPES_MAX) return -1;
    const number = this.#entries.push({ shape, keyList: text }) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  shape(number: number): Shape | undefined {
    return this.#entries[number]?.shape;
  }

  keyList(number: number): string | undefined {
    return this.#entries[number]?.keyList;
  }
}

/** Compact payloads for parts of the engine, and connections, that need the value in another form. */
export class CompactPayloads implements PackedForm {
  readonly name = 'compact';
  readonly shapes = new ShapeTable();
  readonly #decoder = new CompactDecoder(nodeText, (number) => this.shapes.shape(number));

  textOf(bytes: Buffer, start: number, end: number): RawJson | undefined {
    const value = this.valueOf(bytes, start, end);
    return value === undefined ? undefined : rawJson(value);
  }

  /** The keys are counted for every object. */
  isLongerThan(bytes: Buffer, start: number, end: number, bytesMax: number): boolean {
    return this.valueOf(bytes, start, end) !== undefined && end - start + this.#decoder.keysLength > bytesMax;
  }

  valueOf(bytes: Buffer, start: number, end: number): unknown {
    return this.#decode(bytes, start, end).value;
  }

  offenceOf(bytes: Buffer, start: number, end: number): string | undefined {
    return this.#decode(bytes, start, end).offence;
  }

  #decode(bytes: Buffer, start: number, end: number): { readonly value?: unknown; readonly offence?: string } {
    try {
      return { value: this.#decoder.decode(bytes, start, end) };
    } catch (error) {
      return { offence: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#decoder.forget();
    }
  }
}
