// The engine's end of a binary connection, so that tests can use frames of the JSON form: the engine's own writer
// writes them, and the engine's own reader reads the frames of the worker.

import { depthOf, withDepth } from '../../../../src/core/calls/call-depth.ts';
import { ShapeTable } from '../../../../src/core/calls/compact-payloads.ts';
import { FLAG } from '../../../../src/protocol/binary/binary-layout.ts';
import {
  BatchReader,
  type CallHeader,
  MessageBuffer,
  type ResultHeader,
} from '../../../../src/protocol/binary/binary-messages.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { nodeText } from '../../../../src/protocol/json/node-bytes.ts';
import { CompactDecoder } from '../../../../src/protocol/payload/compact-decode.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';

/** A frame in the JSON form. */
export type JsonFrame = Readonly<Record<string, unknown>>;

type ReadText = (start: number, end: number) => string;
type ReadPayload = (flags: number, start: number, end: number) => unknown;

/** Part of the id of every call of this engine; the result must return it. */
const GENERATION = 4_000_000_001;

export class BinaryEngine {
  readonly #reader = new BatchReader();
  readonly #namesOfWorker: string[] = [];
  readonly #ownNumbers = new Map<string, number>();
  readonly #shapes = new ShapeTable();
  readonly #decoder = new CompactDecoder(nodeText, (number) => this.#shapes.shape(number));
  /** Shapes that the worker requested, announced with the next message. */
  #asked: number[] = [];
  /** Ids of calls, each at its slot. */
  readonly #ids: string[] = [];

  /** Many frames as one message. */
  write(frames: readonly JsonFrame[]): Buffer {
    const messages = new MessageBuffer();
    for (const number of this.#asked) messages.shape(number, this.#shapes.keyList(number) ?? '');
    this.#asked = [];
    for (const frame of frames) this.#writeFrame(frame, messages);
    return Buffer.from(messages.view());
  }

  /** All frames in a message of the worker. */
  read(bytes: Buffer): JsonFrame[] {
    const frames: JsonFrame[] = [];
    // Telemetry of a worker travels separately from its messages, in frames of its own (wire 1.11).
    if (/^(OTLP|MTRC|LOGS)/.test(bytes.toString('latin1', 0, 4))) return frames;
    const text = (start: number, end: number): string => bytes.toString('utf8', start, end);
    const payload = (flags: number, start: number, end: number): unknown => {
      if ((flags & FLAG.packed) !== 0) return this.#decoder.decode(bytes, start, end);
      return (flags & FLAG.payload) === 0 ? undefined : JSON.parse(text(start, end));
    };
    const refuse = (reason: string): void => {
      throw new Error(`the engine would refuse a message of the worker: ${reason}`);
    };
    const visitor = {
      control: (start: number, end: number) => void frames.push(JSON.parse(text(start, end))),
      name: (number: number, start: number, end: number) => {
        this.#namesOfWorker[number] = text(start, end);
      },
      shape: (start: number, end: number) => {
        const number = this.#shapes.numberOf(text(start, end)) ?? -1;
        if (number < 0) refuse(`shape ${text(start, end)}`);
        this.#asked.push(number);
      },
      call: (header: Readonly<CallHeader>) => void frames.push(this.#readCall(header, text, payload)),
      result: (header: Readonly<ResultHeader>) => void frames.push(this.#readResult(header, payload)),
      refuse,
      refuseCall: (_idLow: number, _isVoid: boolean, reason: string) => refuse(reason),
      refuseResult: (_idLow: number, _idHigh: number, reason: string) => refuse(reason),
    };
    this.#reader.read(bytes, visitor);
    return frames;
  }

  #writeFrame(frame: JsonFrame, messages: MessageBuffer): void {
    const { type, function_id, invocation_id, data, metadata, traceparent, baggage, timeout_ms, trigger } = frame;
    if (type === 'invocationresult') {
      const { result, error } = frame;
      messages.result(Number(invocation_id) >>> 0, 0, payloadOf(error ?? result), error !== undefined);
    } else if (type === 'invokefunction') {
      messages.call({
        idLow: this.#ids.push(String(invocation_id)) - 1,
        idHigh: GENERATION,
        functionNumber: this.#numberOf(String(function_id), messages),
        depth: depthOf(textOf(baggage)),
        timeoutMs: Number(timeout_ms ?? 0),
        metadata: payloadOf(metadata),
        traceparent: textOf(traceparent),
        baggage: textOf(baggage),
        extra: trigger === undefined ? undefined : rawJson(trigger),
        payload: payloadOf(data),
      });
    } else {
      messages.control(rawJson(frame));
    }
  }

  #numberOf(functionId: string, messages: MessageBuffer): number {
    const known = this.#ownNumbers.get(functionId);
    if (known !== undefined) return known;
    const number = this.#ownNumbers.size;
    this.#ownNumbers.set(functionId, number);
    messages.name(number, functionId);
    return number;
  }

  #readCall(header: Readonly<CallHeader>, text: ReadText, payload: ReadPayload): JsonFrame {
    const { flags, depth } = header;
    const functionId = this.#namesOfWorker[header.functionNumber];
    if (functionId === undefined) throw new Error(`the worker never named function ${header.functionNumber}`);
    const part = (flag: number, start: number, end: number): string | undefined =>
      (flags & flag) === 0 ? undefined : text(start, end);
    const isVoid = (flags & FLAG.isVoid) !== 0;
    const baggage = part(FLAG.baggage, header.baggageStart + 4, header.baggageEnd);
    return withoutAbsent({
      type: 'invokefunction',
      function_id: functionId,
      invocation_id: isVoid ? undefined : String(header.idLow),
      timeout_ms: header.timeoutMs,
      action: isVoid ? { type: 'void' } : parsed(part(FLAG.extra, header.extraStart + 4, header.extraEnd)),
      traceparent: part(FLAG.traceparent, header.traceparentStart + 4, header.traceparentEnd),
      baggage: depth === 0 ? baggage : withDepth(baggage, depth),
      metadata: parsed(part(FLAG.metadata, header.metadataStart + 4, header.metadataEnd)),
      data: payload(flags, header.payloadStart, header.payloadEnd),
    });
  }

  #readResult(
    { flags, idLow, idHigh, payloadStart, payloadEnd }: Readonly<ResultHeader>,
    payload: ReadPayload,
  ): JsonFrame {
    if (idHigh !== GENERATION) throw new Error(`the worker answered a call of generation ${idHigh}`);
    const field = (flags & FLAG.isError) === 0 ? 'result' : 'error';
    const value = payload(flags, payloadStart, payloadEnd);
    return withoutAbsent({ type: 'invocationresult', invocation_id: this.#ids[idLow], [field]: value });
  }
}

function payloadOf(value: unknown): Payload | undefined {
  return value === undefined ? undefined : Payload.ofText(rawJson(value));
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function withoutAbsent(frame: JsonFrame): JsonFrame {
  return Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== undefined));
}
