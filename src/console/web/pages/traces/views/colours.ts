// The colours of the theme for a canvas, read again when the theme changes, and a hue for each service of a trace. A
// service has the same hue in every trace where possible, and two services of one trace differ as long as there are
// hues left. The name is always shown next to the colour (ACC-2).

import { useMemo, useSyncExternalStore } from 'react';

/** Degrees. Red is left out, because it marks errors. */
const HUES = [255, 155, 85, 310, 205, 55, 125, 340] as const;

function serviceHues(services: readonly string[]): number[] {
  const taken = new Set<number>();
  return services.map((service) => {
    const wanted = hash(service) % HUES.length;
    let at = wanted;
    while (taken.has(at) && taken.size < HUES.length) at = (at + 3) % HUES.length;
    taken.add(at);
    return HUES[at] ?? 0;
  });
}

function hueColour(hue: number, theme: 'dark' | 'light'): string {
  return theme === 'dark' ? `oklch(0.7 0.11 ${hue})` : `oklch(0.6 0.13 ${hue})`;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

export interface CanvasColours {
  readonly theme: 'dark' | 'light';
  readonly ground: string;
  readonly panel: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly faint: string;
  readonly accent: string;
  readonly bad: string;
  readonly warn: string;
  readonly selected: string;
  readonly hover: string;
  readonly font: string;
}

/** The theme on the screen: chosen, or changed by the system. */
function useShownTheme(): 'dark' | 'light' {
  return useSyncExternalStore(hearTheme, readTheme);
}

function hearTheme(heard: () => void): () => void {
  const observer = new MutationObserver(heard);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

function readTheme(): 'dark' | 'light' {
  return document.documentElement.dataset.theme === 'light' ? 'light' : 'dark';
}

export function useCanvasColours(): CanvasColours {
  const theme = useShownTheme();
  return useMemo(() => readColours(theme), [theme]);
}

function readColours(theme: 'dark' | 'light'): CanvasColours {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    theme,
    ground: token('ground'),
    panel: token('panel'),
    line: token('line'),
    text: token('text'),
    muted: token('muted'),
    faint: token('faint'),
    accent: token('accent'),
    bad: token('bad'),
    warn: token('warn'),
    selected: token('selected'),
    hover: token('hover'),
    font: `11px ${token('font-sans')}`,
  };
}

/** A colour for each service, in the order of the trace's services. */
export function useServiceColours(services: readonly string[]): readonly string[] {
  const theme = useShownTheme();
  return useMemo(() => serviceHues(services).map((hue) => hueColour(hue, theme)), [services, theme]);
}
