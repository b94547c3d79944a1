import { memo, type ReactNode } from 'react';
import { Hint } from './hint.tsx';
import { IconAlertTriangle, IconCheck, IconCircleDashed, IconClock, IconX } from './icons.ts';
import classes from './state-badge.module.css';
import type { StateKind } from './state-kind.ts';

const SIGNS = {
  good: <IconCheck size={12} aria-hidden />,
  waiting: <IconClock size={12} aria-hidden />,
  warning: <IconAlertTriangle size={12} aria-hidden />,
  bad: <IconX size={12} aria-hidden />,
  off: <IconCircleDashed size={12} aria-hidden />,
} as const;

interface StateBadgeProps {
  kind: StateKind;
  children: ReactNode;
  /** Why it is so. */
  why?: string | null | undefined;
}

/** A state in one or two words, with a sign for those who do not see colours. Of plain elements: lists have one in each row. */
export const StateBadge = memo(({ kind, children, why }: StateBadgeProps) => {
  const badge = (
    <span className={`${classes.badge} ${classes[kind]}`}>
      {SIGNS[kind]}
      <span>{children}</span>
    </span>
  );
  return why ? <Hint label={why}>{badge}</Hint> : badge;
});
