import { Tooltip } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

interface HintProps {
  /** What is told of it, to whoever points at it or has the focus there. */
  label: ReactNode;
  className?: string | undefined;
  /** Where it is a picture: what it shows. */
  picture?: string;
  children: ReactNode;
}

/** Something with a word about it. A list has hundreds: what tells the word is made when somebody asks for it. */
export const Hint = ({ label, className, picture, children }: HintProps) => {
  const place = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  const close = () => setOpen(false);
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: nothing is done by it but telling */}
      <span
        ref={place}
        className={className}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the word must be reachable by keyboard
        tabIndex={0}
        {...(picture === undefined ? {} : { role: 'img', 'aria-label': picture })}
        {...(typeof label === 'string' ? { 'aria-description': label } : {})}
        onPointerEnter={open}
        onPointerLeave={close}
        onFocus={open}
        onBlur={close}
      >
        {children}
      </span>
      {isOpen && <Word of={place} label={label} onClose={close} />}
    </>
  );
};

const Word = ({
  of,
  label,
  onClose,
}: {
  of: RefObject<HTMLSpanElement | null>;
  label: ReactNode;
  onClose: () => void;
}) => {
  useEffect(() => {
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') onClose();
    };
    document.addEventListener('keydown', closeByKey);
    return () => document.removeEventListener('keydown', closeByKey);
  });
  return <Tooltip target={of} label={label} opened multiline maw={420} />;
};
