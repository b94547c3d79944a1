import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Name } from './name.tsx';
import { useEscape } from './use-escape.ts';

interface SideProps {
  title: string;
  /** Default: it is. */
  isOpen?: boolean;
  onClose: () => void;
  /** Where there is room for it. Default: `lg`. */
  size?: 'lg' | 'xl';
  /** Whether what it shows is never shown again: then only its buttons close it. */
  isHeld?: boolean;
  children: ReactNode;
}

/** What is beside a list: all of the screen where that is narrow. */
export const Side = ({ title, isOpen = true, onClose, size = 'lg', isHeld = false, children }: SideProps) => {
  const { t } = useTranslation();
  const content = useEscape(isOpen && !isHeld, onClose);
  const isNarrow = useMediaQuery('(max-width: 48em)');
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      closeOnEscape={false}
      closeOnClickOutside={!isHeld}
      ref={content}
      title={<Name>{title}</Name>}
      position="right"
      size={isNarrow ? '100%' : size}
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {children}
    </Drawer>
  );
};
