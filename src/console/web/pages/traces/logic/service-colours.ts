// A hue for each service of a trace. A service has the same hue in every trace where possible, and two services of one
// trace differ as long as there are hues left. The name is always shown next to the colour (ACC-2).

/** Degrees. Red is left out, because it marks errors. */
const HUES = [255, 155, 85, 310, 205, 55, 125, 340] as const;

export function serviceHues(services: readonly string[]): number[] {
  const taken = new Set<number>();
  return services.map((service) => {
    const wanted = hash(service) % HUES.length;
    let at = wanted;
    while (taken.has(at) && taken.size < HUES.length) at = (at + 3) % HUES.length;
    taken.add(at);
    return HUES[at] ?? 0;
  });
}

export function hueColour(hue: number, theme: 'dark' | 'light'): string {
  return theme === 'dark' ? `oklch(0.7 0.11 ${hue})` : `oklch(0.6 0.13 ${hue})`;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
