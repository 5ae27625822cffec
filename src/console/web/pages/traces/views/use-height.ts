// The height of a scrolled element, for a canvas inside it that does not scroll.

import { type RefObject, useEffect, useState } from 'react';

export function useHeight(scroller: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return height;
}
