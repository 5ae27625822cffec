// A part of a cell: it answers `cell.ts` over the process channel.

/** Reports to the parent that the part is ready, when asked. */
export function answerReady(details: () => Promise<object>): void {
  process.on('message', async (message: { ask?: string }) => {
    if (message.ask === 'ready') process.send?.(await details());
  });
}

interface RunRequest {
  readonly ask: 'run';
  readonly payloadBytes: number;
  readonly inFlight: number;
  readonly ms: number;
}

/** One call. `done` is called exactly once, when its answer arrives. */
export type StartCall = (payload: unknown, done: () => void) => void;

/** Runs a closed loop of calls when the parent asks, and reports rate and latencies. */
export function answerRuns(startCall: StartCall): void {
  process.on('message', (message: Partial<RunRequest>) => {
    if (message.ask !== 'run') return;
    const request = { payloadBytes: 0, inFlight: 1, ms: 0, ...message } as RunRequest;
    runLoop(startCall, request).then((report) => process.send?.(report));
  });
}

/** What the HTTP handlers of all contenders answer. */
export const HELLO = { ok: true, id: 42, message: 'hello' };

/** A JSON order of about this many bytes, like that of a user, and not one long string. */
export function makePayload(bytes: number): unknown {
  const order: { id: string; total: number; items: object[] } = { id: 'o-4711', total: 99.5, items: [] };
  const item = { sku: 'abc-123', quantity: 2, price: 12.5, note: 'gift' };
  while (JSON.stringify(order).length + JSON.stringify(item).length < bytes) order.items.push(item);
  return order;
}

function runLoop(startCall: StartCall, { payloadBytes, inFlight, ms }: RunRequest): Promise<object> {
  const payload = makePayload(payloadBytes);
  const latenciesUs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + ms;
  let running = 0;
  return new Promise((resolve) => {
    const begin = (): void => {
      running++;
      const begunMs = performance.now();
      startCall(payload, () => {
        const nowMs = performance.now();
        latenciesUs.push((nowMs - begunMs) * 1000);
        running--;
        if (nowMs < endMs) begin();
        else if (running === 0) resolve(report(latenciesUs, (nowMs - startMs) / 1000));
      });
    };
    for (let call = 0; call < inFlight; call++) begin();
  });
}

function report(latenciesUs: number[], seconds: number): object {
  const sorted = Float64Array.from(latenciesUs).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { calls: sorted.length, seconds, p50Us: at(0.5), p99Us: at(0.99), worstUs: at(1) };
}
