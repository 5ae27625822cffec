// Stack traces (TRC-15, LOG-2): the lines of the application's own code stay, runs of library frames fold into one line
// with a count.

export type StackPart =
  | { readonly kind: 'text'; readonly line: string }
  | { readonly kind: 'own'; readonly line: string }
  | { readonly kind: 'library'; readonly lines: readonly string[] };

const FRAME = /^\s*at\s|^\s+File "|^\s*\S+@\S+:\d+/;
const LIBRARY = /node_modules|\bnode:|\(internal\/|site-packages|<anonymous>|native code/;
/** A single library frame is as short as the line that would replace it. */
const FOLDED_MIN = 2;

export function foldStack(stack: string): StackPart[] {
  const parts: StackPart[] = [];
  let run: string[] = [];
  const endRun = (): void => {
    if (run.length >= FOLDED_MIN) parts.push({ kind: 'library', lines: run });
    else parts.push(...run.map((line) => ({ kind: 'own', line }) as const));
    run = [];
  };
  for (const line of stack.split(/\r?\n/)) {
    if (FRAME.test(line) && LIBRARY.test(line)) {
      run.push(line);
      continue;
    }
    endRun();
    parts.push({ kind: FRAME.test(line) ? 'own' : 'text', line });
  }
  endRun();
  return parts;
}

/** Whether a text contains frames. Only then is it worth folding. */
export function hasStack(text: string): boolean {
  return text.includes('\n') && text.split(/\r?\n/).some((line) => FRAME.test(line));
}

/** The chain of causes: the texts after `Caused by:` and `[cause]:`, outermost first. */
export function causeChain(stack: string): string[] {
  return [...stack.matchAll(/(?:^|\n)\s*(?:Caused by:|\[cause\]:)\s*([^\n]+)/g)].map((match) =>
    (match[1] ?? '').trim(),
  );
}
