// Work that would hold the page up, done in slices of a few milliseconds with room for input between them (rule 5).

const SLICE_MS = 8;

/** `step` works a little and says whether there is more. Returns how to give the work up. */
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
