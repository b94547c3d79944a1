import { Box, Text } from '@mantine/core';
import { createContext, useContext } from 'react';
import type { SourceFile } from './source-file.ts';

const SourcesContext = createContext<readonly SourceFile[]>([]);

/** The files of the import, as long as this page knows them: the service forgets them once they are read. */
export const SourcesProvider = SourcesContext.Provider;

const AROUND = 2;
const WIDEST = 400;

interface ExcerptProps {
  file: string;
  /** From 1. */
  line: number;
}

/** A place of the source: its file and line, and the lines around it where they are known. */
export const Excerpt = ({ file, line }: ExcerptProps) => {
  const source = useContext(SourcesContext).find(({ filename }) => filename === file);
  const lines = source?.encoding === 'utf8' ? source.content.split('\n') : [];
  const first = Math.max(1, line - AROUND);
  const shown = lines.slice(first - 1, line + AROUND);
  return (
    <Box>
      <Text size="xs" className="foreign">
        {file}:{line}
      </Text>
      {shown.length > 0 && (
        <Box
          component="pre"
          m={0}
          mt={2}
          p={6}
          fz="xs"
          bdrs="sm"
          bg="body"
          bd="1px solid var(--mantine-color-default-border)"
          style={{ whiteSpace: 'pre-wrap', tabSize: 2 }}
          className="foreign"
        >
          {shown.map((text, index) => {
            const number = first + index;
            const isIt = number === line;
            return (
              <Text
                key={number}
                span
                inherit
                display="block"
                ff="monospace"
                fw={isIt ? 700 : undefined}
                c={isIt ? 'bright' : 'dimmed'}
                aria-current={isIt ? 'true' : undefined}
              >
                {isIt ? '▸' : ' '} {String(number).padStart(4)} {text.slice(0, WIDEST)}
              </Text>
            );
          })}
        </Box>
      )}
    </Box>
  );
};
