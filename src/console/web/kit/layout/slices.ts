// Work that would block the page, done in slices of a few milliseconds with room for input between them (console rule
// 5).

const SLICE_MS = 8;

/** `step` does a little work and returns whether there is more. Returns a function that cancels the work. */
export function inSlices(step: () => boolean, done: () => void): () => void {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const untilMs = performance.now() + SLICE_MS;
    let more = true;
    while (more && performance.now() < untilMs) more = step();
    if (more) channel.port2.postMessage(undefined);
    else {
      channel.port1.close();
      done();
    }
  };
  channel.port2.postMessage(undefined);
  return () => channel.port1.close();
}
