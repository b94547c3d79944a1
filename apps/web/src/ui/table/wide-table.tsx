import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './wide-table.module.css';

interface WideTableProps {
  /** What the table lists, for those who hear the page. */
  label: string;
  /** Scrolls within its place when there is less room, in pixels. */
  minWidth: number;
  head: readonly ReactNode[];
  /** Columns, counted from 0, that a phone has no room for: their cells are `visibleFrom="sm"` as well, and what they hold stands elsewhere there. */
  notOnPhones?: readonly number[];
  /** Its rows. */
  children: ReactNode;
}

/** A table of a few rows, whose columns need room; long lists are a `DataTable`. */
export const WideTable = ({ label, minWidth, head, notOnPhones = [], children }: WideTableProps) => (
  <Table.ScrollContainer
    minWidth={minWidth}
    type="native"
    tabIndex={0}
    role="region"
    aria-label={label}
    className={notOnPhones.length > 0 ? styles.narrow : undefined}
    style={{ overflowX: 'auto' }}
  >
    <Table verticalSpacing="xs" aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {head.map((title, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
            <Table.Th key={index} {...(notOnPhones.includes(index) && { visibleFrom: 'sm' })}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
