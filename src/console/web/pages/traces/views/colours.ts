// The colours of the theme for a canvas, read again when the theme changes.

import { useMemo, useSyncExternalStore } from 'react';
import { hueColour, serviceHues } from '../logic/service-colours.ts';

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
