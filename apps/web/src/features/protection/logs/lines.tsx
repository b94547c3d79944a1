import { UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { formatClock } from '../../../i18n/formats.ts';
import type { Line } from './feed.ts';
import classes from './lines.module.css';

const HEIGHT = 28;
/** So near its end the list is at its end. */
const NEAR_END = 2 * HEIGHT;

interface LinesProps {
  lines: readonly Line[];
  isFollowing: boolean;
  /** Told when the reader scrolls away from the newest, or back to it. */
  onFollow: (isFollowing: boolean) => void;
  onOpen: (line: Line) => void;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Lines of the log, the newest below; only those in sight are in the page. What is read stays in its place while older ones go. */
export const Lines = ({ lines, isFollowing, onFollow, onOpen }: LinesProps) => {
  const { t } = useTranslation('protection');
  const frame = useRef<HTMLDivElement>(null);
  const before = useRef<readonly Line[]>(lines);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => HEIGHT,
    overscan: 10,
  });

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else {
      const first = lines[0]?.id ?? 0;
      const gone = before.current.findIndex(({ id }) => id >= first);
      if (gone > 0) element.scrollTop -= gone * HEIGHT;
    }
    before.current = lines;
  }, [lines, isFollowing]);

  return (
    <div
      ref={frame}
      className={classes.frame}
      role="log"
      aria-live="off"
      aria-label={t('logs.entries')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
        if (isAtEnd !== isFollowing) onFollow(isAtEnd);
      }}
    >
      <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (!line) return null;
          const { level, message, timestamp, fields } = line.entry;
          return (
            <UnstyledButton
              key={line.id}
              className={classes.line}
              style={{ transform: `translateY(${item.start}px)` }}
              onClick={() => onOpen(line)}
            >
              <span className={classes.time}>{formatClock(timestamp)}</span>
              <span className={classes.level} data-level={level}>
                {t(`logs.levels.${level}`)}
              </span>
              <span className={`${classes.message} foreign`}>{message}</span>
              <span className={`${classes.origin} foreign`}>{`${text(fields.host)} ${text(fields.ip)}`.trim()}</span>
            </UnstyledButton>
          );
        })}
      </div>
    </div>
  );
};
