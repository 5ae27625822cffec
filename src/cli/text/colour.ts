// Whether and how to use colour (CLI-5). The decision is made once per stream and passed on as a painter.

import { styleText } from 'node:util';

export type ColourMode = 'auto' | 'always' | 'never';

export interface Painter {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

export interface ColourSituation {
  readonly mode: ColourMode;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

export function createPainter(situation: ColourSituation): Painter {
  const paint = mayColour(situation)
    ? // The decision is made here; Node would otherwise make its own by looking at stdout.
      (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow') => (text: string) =>
        styleText(style, text, { validateStream: false })
    : () => (text: string) => text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
  };
}

/** Order of precedence: the flag, a variable against colour, a variable for colour, the kind of stream. */
export function mayColour({ mode, env, isTerminal }: ColourSituation): boolean {
  if (mode !== 'auto') return mode === 'always';
  if (isSet(env.NO_COLOR)) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb' && !isSet(env.CI);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
