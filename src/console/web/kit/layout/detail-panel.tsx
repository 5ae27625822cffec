// The detail of the open object: a panel next to the list, whose edge can be moved, or a sheet over it where there is
// no room (APP-13). Esc and Back close it, because the address names the open object.

import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { keep, readKept } from '../../data/preferences.ts';
import { PanelBoundary } from '../feedback/error-card.tsx';
import { IconButton } from '../inputs/button.tsx';
import { useFocusBack } from './overlays.tsx';
import { useWide } from './page.tsx';

export interface DetailPanelProps {
  /** "Function orders::create": its name for screen readers. */
  readonly label: string;
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function DetailPanel(props: DetailPanelProps): ReactNode {
  return useWide() ? <BesidePanel {...props} /> : <SheetPanel {...props} />;
}

const WIDTH_KEY = 'svc.detail-width';
const WIDTH_MIN = 340;
const STEP_PX = 32;

function BesidePanel(props: DetailPanelProps): ReactNode {
  const panel = useRef<HTMLElement>(null);
  const [width, setWidth] = useState<number>(() => {
    const kept = readKept(WIDTH_KEY);
    return typeof kept === 'number' ? kept : 560;
  });
  useKeys([{ keys: ['Escape'], name: 'Close the detail', run: props.onClose }]);
  const resize = (to: number): void => {
    const kept = Math.round(Math.min(Math.max(to, WIDTH_MIN), innerWidth * 0.7));
    setWidth(kept);
    keep(WIDTH_KEY, kept);
  };
  return (
    <aside
      ref={panel}
      aria-label={props.label}
      className="relative flex min-h-0 shrink-0 flex-col border-l border-line bg-panel"
      style={{ width: `min(${width}px, 60vw)` }}
    >
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the detail"
        aria-valuenow={width}
        aria-valuemin={WIDTH_MIN}
        aria-valuemax={Math.round(innerWidth * 0.7)}
        tabIndex={0}
        className="absolute top-0 -left-1 z-10 h-full w-2 cursor-col-resize touch-none hover:bg-accent-soft"
        onKeyDown={(event) => {
          const by = event.key === 'ArrowLeft' ? STEP_PX : event.key === 'ArrowRight' ? -STEP_PX : 0;
          if (by === 0) return;
          event.preventDefault();
          resize(width + by);
        }}
        onPointerDown={(event) => {
          event.preventDefault();
          const edge = event.currentTarget;
          edge.setPointerCapture(event.pointerId);
          const right = panel.current?.getBoundingClientRect().right ?? innerWidth;
          const move = (moved: PointerEvent): void => resize(right - moved.clientX);
          edge.addEventListener('pointermove', move);
          edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
            once: true,
          });
        }}
      />
      <PanelHead {...props} title={<h2 className="min-w-0 flex-1 text-base font-semibold">{props.title}</h2>} />
      <PanelBody {...props} />
    </aside>
  );
}

const SHEET =
  'fixed inset-x-0 bottom-0 z-40 flex h-[92dvh] flex-col rounded-t-lg border-t border-line bg-panel shadow-float ' +
  // If nothing in it takes the focus, the sheet itself gets it.
  'outline-none';

function SheetPanel(props: DetailPanelProps): ReactNode {
  const focusBack = useFocusBack();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-ground/70" />
        <Dialog.Content aria-describedby={undefined} className={SHEET} {...focusBack}>
          <PanelHead
            {...props}
            title={
              <Dialog.Title asChild>
                <h2 className="min-w-0 flex-1 text-base font-semibold">{props.title}</h2>
              </Dialog.Title>
            }
          />
          <PanelBody {...props} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PanelHead({ title, actions, onClose }: DetailPanelProps): ReactNode {
  return (
    <header className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line px-3">
      {title}
      {actions}
      <IconButton label="Close" hint="Esc" onClick={onClose}>
        <X size={15} />
      </IconButton>
    </header>
  );
}

function PanelBody({ label, children }: DetailPanelProps): ReactNode {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <PanelBoundary name={label}>{children}</PanelBoundary>
    </div>
  );
}
