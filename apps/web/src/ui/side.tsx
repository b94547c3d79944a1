import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useEscape } from './use-escape.ts';

interface SideProps {
  title: string;
  /** Default: it is. */
  isOpen?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** What is beside a list: all of the screen where that is narrow. */
export const Side = ({ title, isOpen = true, onClose, children }: SideProps) => {
  const { t } = useTranslation();
  const content = useEscape(isOpen, onClose);
  const isNarrow = useMediaQuery('(max-width: 48em)');
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      closeOnEscape={false}
      ref={content}
      title={<span className="foreign">{title}</span>}
      position="right"
      size={isNarrow ? '100%' : 'lg'}
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {children}
    </Drawer>
  );
};
