import { useEffect, useRef } from 'react';

/** The dialogs in the page, the one on top last. */
const DIALOGS = '[role="dialog"]';

/**
 * Has Escape close what is open at the side, unless another dialog lies over it, whose it is then; or a list of choices, which says so at its
 * field.
 */
export const useEscape = (isOpen: boolean, onClose: () => void) => {
  const content = useRef<HTMLDivElement>(null);
  const latest = useRef({ isOpen, onClose });
  latest.current = { isOpen, onClose };
  // Once: it has to be asked before a dialog that is opened later has closed by the same key.
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || !latest.current.isOpen) return;
      const { target } = event;
      if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return;
      const top = [...document.querySelectorAll(DIALOGS)].at(-1);
      if (top !== undefined && content.current?.contains(top)) latest.current.onClose();
    };
    window.addEventListener('keydown', close, { capture: true });
    return () => window.removeEventListener('keydown', close, { capture: true });
  }, []);
  return content;
};
