// Two texts next to each other, or merged where there is no room. Loaded when it is first shown.

import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { type ReactNode, useEffect, useRef } from 'react';
import { styleNonce } from '../../data/nonce.ts';
import { useWide } from '../layout/page.tsx';
import { editorColours, editorLook } from './editor-look.ts';
import type { JsonDiffProps } from './json-editor.tsx';

export default function CodeDiff({ before, after, label }: JsonDiffProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const isWide = useWide();
  useEffect(() => {
    const { current: parent } = host;
    if (parent === null) return;
    const shared: Extension = [
      EditorView.cspNonce.of(styleNonce),
      EditorState.readOnly.of(true),
      [lineNumbers(), json(), EditorView.lineWrapping, editorLook, editorColours],
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ];
    const view = isWide
      ? new MergeView({
          parent,
          a: { doc: before, extensions: shared },
          b: { doc: after, extensions: shared },
          collapseUnchanged: { margin: 3, minSize: 8 },
        })
      : new EditorView({
          parent,
          doc: after,
          extensions: [shared, unifiedMergeView({ original: before, mergeControls: false })],
        });
    return () => view.destroy();
  }, [before, after, label, isWide]);
  return <div ref={host} className="max-h-[60vh] overflow-auto rounded-md border border-line bg-ground" />;
}
