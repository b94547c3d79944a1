import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface WideTableProps {
  /** What the table lists, for those who hear the page. */
  label: string;
  /** Scrolls within its place when there is less room, in pixels. */
  minWidth: number;
  head: readonly ReactNode[];
  /** Its rows. */
  children: ReactNode;
}

/** A table of a few rows, whose columns need room; long lists are a `DataTable`. */
export const WideTable = ({ label, minWidth, head, children }: WideTableProps) => (
  <Table.ScrollContainer
    minWidth={minWidth}
    type="native"
    tabIndex={0}
    role="region"
    aria-label={label}
    style={{ overflowX: 'auto' }}
  >
    <Table verticalSpacing="xs" aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {head.map((title, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
            <Table.Th key={index}>{title}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
