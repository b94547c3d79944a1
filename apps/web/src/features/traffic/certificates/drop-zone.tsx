import { FileButton, Paper, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { IconUpload } from '../../../ui/icons.ts';

interface DropZoneProps {
  label: string;
  onFiles: (files: File[]) => void;
}

/** Where files are dropped, or chosen by a click or key. */
export const DropZone = ({ label, onFiles }: DropZoneProps) => {
  const [isOver, setOver] = useState(false);
  return (
    <FileButton multiple onChange={onFiles}>
      {(props) => (
        <UnstyledButton
          {...props}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            onFiles([...event.dataTransfer.files]);
          }}
        >
          <Paper
            withBorder
            p="xl"
            ta="center"
            bg={isOver ? 'var(--mantine-primary-color-light)' : 'transparent'}
            style={{ borderStyle: 'dashed' }}
          >
            <IconUpload size={24} aria-hidden />
            <Text size="sm">{label}</Text>
          </Paper>
        </UnstyledButton>
      )}
    </FileButton>
  );
};
