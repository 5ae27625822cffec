// A value parsed for its tree without blocking the page: a long one in slices (JSN-3).

import { useEffect, useMemo, useRef, useState } from 'react';
import { inSlices } from '../layout/slices.ts';
import { type JsonRowOptions, type JsonRows, jsonRowSteps, jsonRows } from './logic/json-rows.ts';
import { type JsonNode, JsonReader, parseJsonSource } from './logic/json-source.ts';

/** Up to this length parsing takes less than a slice. */
const AT_ONCE_CHARS_MAX = 64 * 1_024;
const TOKENS_A_STEP = 1_000;

/** `undefined` while it is parsed. */
export type ReadJson = JsonNode | 'no-json' | undefined;

export function useJsonSource(text: string): ReadJson {
  const isShort = text.length <= AT_ONCE_CHARS_MAX;
  const atOnce = useMemo(() => (isShort ? readAtOnce(text) : undefined), [text, isShort]);
  const [slow, setSlow] = useState<{ readonly text: string; readonly read: ReadJson }>();
  useEffect(() => {
    if (isShort) return;
    const reader = new JsonReader(text, { isSparing: true });
    let read: ReadJson;
    return inSlices(
      () => {
        read = readStep(reader);
        return read === undefined;
      },
      () => setSlow({ text, read }),
    );
  }, [text, isShort]);
  if (isShort) return atOnce;
  return slow?.text === text ? slow.read : undefined;
}

function readAtOnce(text: string): ReadJson {
  try {
    return parseJsonSource(text);
  } catch {
    return 'no-json';
  }
}

function readStep(reader: JsonReader): ReadJson {
  try {
    return reader.read(TOKENS_A_STEP) ? undefined : reader.root;
  } catch {
    return 'no-json';
  }
}

/** For a long value the previous rows stay until the new ones are computed. `undefined`: there were none before. */
export function useJsonRows(
  root: JsonNode,
  options: JsonRowOptions,
): { readonly rows: JsonRows | undefined; readonly isOld: boolean } {
  const isShort = options.text.length <= AT_ONCE_CHARS_MAX;
  const atOnce = useMemo(() => (isShort ? jsonRows(root, options) : undefined), [root, options, isShort]);
  const [slow, setSlow] = useState<{ readonly options: JsonRowOptions; readonly rows: JsonRows }>();
  const shownFor = useRef(root);
  useEffect(() => {
    if (isShort) return;
    const steps = jsonRowSteps(root, options);
    let rows: JsonRows | undefined;
    return inSlices(
      () => {
        const { done, value } = steps.next();
        if (done === true) rows = value;
        return done !== true;
      },
      () => {
        shownFor.current = root;
        if (rows !== undefined) setSlow({ options, rows });
      },
    );
  }, [root, options, isShort]);
  if (isShort) return { rows: atOnce, isOld: false };
  return { rows: shownFor.current === root ? slow?.rows : undefined, isOld: slow?.options !== options };
}
