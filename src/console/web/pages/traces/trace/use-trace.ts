// An open trace: read once, laid out by its worker, and updated while it runs (TRC-16). `TraceClient` is the page's
// side of the worker: one for each open trace, ended with its page. Requests are answered in order.

import { useEffect, useRef, useState } from 'react';
import type { SpanRecord } from '../../../../../core/telemetry/records/records.ts';
import { callText } from '../../../data/api.ts';
import { useLive } from '../../../data/use-live.ts';
import type { Arrangement, TraceReplies, TraceRequest, TraceView } from '../logic/trace-session.ts';
import type { WorkerReply, WorkerRequest } from './trace-worker.ts';

export class TraceClient {
  readonly #worker = new Worker(new URL('./trace-worker.ts', import.meta.url), { type: 'module' });
  readonly #waiting = new Map<number, { resolve(reply: never): void; reject(reason: Error): void }>();
  #nextId = 1;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('problem' in data) waiting?.reject(new Error(data.problem));
      // The session answers each request with the reply of the same name.
      else waiting?.resolve(data.reply as never);
    };
    this.#worker.onerror = () => this.#fail('The thread that lays out traces could not be started');
  }

  ask<R extends TraceRequest>(request: R): Promise<TraceReplies[R['op']]> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies WorkerRequest);
    });
  }

  end(): void {
    this.#worker.terminate();
    this.#waiting.clear();
  }

  #fail(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}

export interface OpenTrace {
  readonly client: TraceClient | undefined;
  readonly view: TraceView | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  /** Reads the level below a span of a large trace. */
  readonly loadBelow: (spanId: string) => void;
  readonly arrange: (arrangement: Arrangement) => void;
}

export type TraceSource =
  | { readonly from: 'engine'; readonly traceId: string }
  | { readonly from: 'file'; readonly text: string };

/** The shortest time between two layouts of a running trace. Its open bars grow as often. */
const GROW_MS = 250;

export function useTrace(source: TraceSource): OpenTrace {
  const [client, setClient] = useState<TraceClient>();
  const [view, setView] = useState<TraceView>();
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  const key = source.from === 'engine' ? source.traceId : source.text;
  const isFile = source.from === 'file';
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is the wish to read again
  useEffect(() => {
    const fresh = new TraceClient();
    const cancel = new AbortController();
    setClient(fresh);
    setError(undefined);
    read(key, isFile, cancel.signal)
      .then((text) => fresh.ask({ op: 'load', text, from: isFile ? 'file' : 'engine' }))
      .then(setView)
      .catch((thrown: unknown) => !cancel.signal.aborted && setError(thrown));
    return () => {
      cancel.abort();
      fresh.end();
    };
  }, [key, isFile, round]);
  const pendingCount = view?.columns.pendingCount ?? 0;
  const apply = (asked: Promise<TraceView>): void => {
    asked.then(setView, setError);
  };
  useGrowth(source, client, pendingCount, apply);
  return {
    client,
    view,
    error,
    reload: () => setRound((now) => now + 1),
    loadBelow: (spanId) => {
      if (client === undefined || isFile) return;
      const answer = callText('GET /traces/{id}', { parts: { id: key }, query: { parent: spanId } });
      apply(answer.then(({ text }) => client.ask({ op: 'merge', text })));
    },
    arrange: (arrangement) => client !== undefined && apply(client.ask({ op: 'arrange', arrangement })),
  };
}

async function read(key: string, isFile: boolean, signal: AbortSignal): Promise<string> {
  if (isFile) return key;
  const { text } = await callText('GET /traces/{id}', { parts: { id: key }, signal });
  return text;
}

function useGrowth(
  source: TraceSource,
  client: TraceClient | undefined,
  pendingCount: number,
  apply: (asked: Promise<TraceView>) => void,
): void {
  const arrived = useRef<SpanRecord[]>([]);
  const isEngine = source.from === 'engine';
  useLive(
    isEngine ? `trace:${source.traceId}` : '',
    { items: (items) => arrived.current.push(...(items as readonly SpanRecord[])) },
    { enabled: isEngine },
  );
  const latest = useRef(apply);
  latest.current = apply;
  useEffect(() => {
    if (client === undefined || !isEngine) return;
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking || document.hidden || (arrived.current.length === 0 && pendingCount === 0)) return;
      const spans = arrived.current;
      arrived.current = [];
      isAsking = true;
      const asked = client.ask({ op: 'upsert', spans });
      const answered = (): void => {
        isAsking = false;
      };
      asked.then(answered, answered);
      latest.current(asked);
    }, GROW_MS);
    return () => clearInterval(timer);
  }, [client, isEngine, pendingCount]);
}
