import type { Path } from '../core/config-fields/fields-check.ts';

/** A problem of the configuration, at its place in the file. */
export interface ConfigProblem {
  /** As the user named it. */
  readonly file: string;
  /** From 1; 0 when the problem concerns the file as a whole. */
  readonly line: number;
  /** From 1, in UTF-16 units; 0 like `line`. */
  readonly column: number;
  /** `workers[1].config.port`; empty for the root. */
  readonly path: string;
  readonly message: string;
  /** The line of the file with a caret below it, without secrets; empty if there is nothing to show. */
  readonly excerpt: string;
}

/** `file:line:column: path: message`, followed by the excerpt. */
export function formatProblem({ file, line, column, path, message, excerpt }: ConfigProblem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const head = [place, path, message].filter((part) => part !== '').join(': ');
  return excerpt === '' ? head : `${head}\n${excerpt}`;
}

/** A problem without a line: the file cannot be read or parsed. */
export function fileProblem(file: string, message: string): ConfigProblem {
  return { file, line: 0, column: 0, path: '', message, excerpt: '' };
}

export function formatPath(path: Path): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    if (!/^[\w-]{1,200}$/.test(step)) return `${before}[${shortened(JSON.stringify(step))}]`;
    return before === '' ? step : `${before}.${step}`;
  }, '');
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
