// One beat for everything that live data changes: however many frames of the socket arrive, views hear of them once
// before the next paint (LIV-2).

const waiting = new Set<() => void>();
let asked = false;

export function beforeNextPaint(run: () => void): void {
  waiting.add(run);
  if (asked) return;
  asked = true;
  // A hidden tab paints nothing; what it holds must still be let go.
  if (document.hidden) setTimeout(beat, 1_000);
  else requestAnimationFrame(beat);
}

function beat(): void {
  asked = false;
  const due = [...waiting];
  waiting.clear();
  for (const run of due) run();
}
