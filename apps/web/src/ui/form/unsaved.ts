import { useEffect, useRef } from 'react';

const holders = new Set<() => boolean>();
let isAgreed = false;

/** Whether leaving the page that is open would lose something, and nobody has agreed to that. */
export const isAnythingUnsaved = (): boolean => !isAgreed && [...holders].some((isUnsaved) => isUnsaved());

/** Leaves a page by `go`, at once or when it is done, though something typed is lost by it: that was agreed to. */
export const leaveAgreed = async (go: () => unknown): Promise<void> => {
  isAgreed = true;
  try {
    await go();
  } finally {
    isAgreed = false;
  }
};

/** Has whoever leaves the page asked first, as long as `isUnsaved` says so; it is asked at that moment. */
export const useUnsaved = (isUnsaved: () => boolean): void => {
  const latest = useRef(isUnsaved);
  latest.current = isUnsaved;
  useEffect(() => {
    const holder = () => latest.current();
    holders.add(holder);
    return () => void holders.delete(holder);
  }, []);
  // Only while there is something: a page that listens to its own end is not kept for the way back.
  useEffect(() => {
    if (!latest.current()) return;
    const stay = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', stay);
    return () => window.removeEventListener('beforeunload', stay);
  });
};
