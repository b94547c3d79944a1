import { Badge, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCircleDashed, IconClock, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { StateKind } from './state-kind.ts';

const LOOKS = {
  good: { color: 'verdigris', icon: IconCheck },
  waiting: { color: 'blue', icon: IconClock },
  warning: { color: 'yellow', icon: IconAlertTriangle },
  bad: { color: 'red', icon: IconX },
  off: { color: 'gray', icon: IconCircleDashed },
} as const;

interface StateBadgeProps {
  kind: StateKind;
  children: ReactNode;
  /** Why it is so. */
  why?: string | null | undefined;
}

/** A state in one or two words, with a sign for those who do not see colours. */
export const StateBadge = ({ kind, children, why }: StateBadgeProps) => {
  const { color, icon: Sign } = LOOKS[kind];
  const badge = (
    <Badge
      color={color}
      variant="light"
      size="md"
      radius="sm"
      tt="none"
      fw={500}
      leftSection={<Sign size={12} aria-hidden />}
    >
      {children}
    </Badge>
  );
  if (!why) return badge;
  return (
    <Tooltip label={why} multiline maw={420} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the reason must be reachable by keyboard */}
      <span tabIndex={0}>{badge}</span>
    </Tooltip>
  );
};
