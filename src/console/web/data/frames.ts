// One update per paint for everything that live data changes: however many frames the socket receives, views are
// notified once before the next paint (LIV-2).

const waiting = new Set<() => void>();
let asked = false;

export function beforeNextPaint(run: () => void): void {
  waiting.add(run);
  if (asked) return;
  asked = true;
  // A hidden tab does not paint, but its data must still be released.
  if (document.hidden) setTimeout(beat, 1_000);
  else requestAnimationFrame(beat);
}

function beat(): void {
  asked = false;
  const due = [...waiting];
  waiting.clear();
  for (const run of due) run();
}
