// A configuration file as a plain value that maps each path to its line.

import { LineCounter } from 'yaml';
import { type FieldProblem, isSecretPath, type Path } from '../core/config-fields/fields-check.ts';
import { plainTree } from './plain-tree.ts';
import {
  type ConfigProblem,
  drawBrokenLine,
  drawEntry,
  type EntrySpans,
  fileProblem,
  formatPath,
  formatProblem,
} from './problem.ts';
import { composeYaml } from './yaml-syntax.ts';

export const FILE_BYTES_MAX = 1024 * 1024;

export interface ConfigDocument {
  readonly value: unknown;
  /** Legal YAML that is probably a mistake, with its position. */
  readonly warnings: readonly string[];
  /** The entry at a path. In quotes or as a block it is text, whatever it looks like. */
  entryAt(path: Path): { readonly value: unknown; readonly isQuoted: boolean };
  /** The problem at its position in the file. A path that is not in the file leads to the nearest entry above it. */
  locate(problem: FieldProblem): ConfigProblem;
}

export type ReadDocument =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export function readDocument(text: string, file: string): ReadDocument {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > FILE_BYTES_MAX) return { ok: false, problems: [fileProblem(file, describeTooBig(sizeBytes))] };
  const lines = new LineCounter();
  const yaml = composeYaml(text, lines);
  const positionOf = (offset: number) => {
    const { line, col: column } = lines.linePos(offset);
    return { file, line, column };
  };
  if (!yaml.ok) {
    const { offset, message } = yaml.problem;
    return {
      ok: false,
      problems: [{ ...positionOf(offset), path: '', message, excerpt: drawBrokenLine(text, offset) }],
    };
  }
  const tree = plainTree(yaml.root);
  const report = (path: Path, spans: EntrySpans, point: number, message: string, isHidden: boolean): ConfigProblem => {
    const excerpt = drawEntry(text, spans, point, isHidden || isSecretPath(path));
    return { ...positionOf(point), path: formatPath(path), message, excerpt };
  };
  if (tree.problems.length > 0) {
    const problems = tree.problems.map(({ path, spans, message }) =>
      report(path, spans, startOf(spans), message, false),
    );
    return { ok: false, problems };
  }
  const locate = ({ path, at, message, isHidden = false }: FieldProblem) => {
    const { entry, isExact } = tree.find(path);
    const hasText = entry.content.end > entry.content.start;
    const point = at === 'value' && isExact && hasText ? entry.content.start : startOf(entry);
    return report(path, entry, point, message, isHidden);
  };
  const warnings = tree.warnings.map(({ path, spans, message }) =>
    formatProblem({ ...report(path, spans, spans.content.start, message, false), excerpt: '' }),
  );
  const entryAt = (path: Path) => tree.find(path).entry;
  return { ok: true, document: { value: tree.value, warnings, entryAt, locate } };
}

export function describeTooBig(sizeBytes: number): string {
  return `The file has ${sizeBytes} bytes, over the limit of ${FILE_BYTES_MAX}.`;
}

function startOf({ key, content }: EntrySpans): number {
  return (key ?? content).start;
}
