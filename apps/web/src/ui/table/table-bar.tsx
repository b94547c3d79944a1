import { ActionIcon, CloseButton, Group, Menu, Text, TextInput, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../i18n/formats.ts';
import { IconColumns3, IconSearch } from '../icons.ts';

interface TableBarProps {
  search: string;
  onSearch: (text: string) => void;
  /** How many rows there are in all. */
  count: number | undefined;
  /** What can be searched for, where that is not plain. */
  placeholder?: string;
  /** Filters beside the search. */
  children?: ReactNode;
  /** Columns that can be hidden. */
  columns?: {
    all: readonly { id: string; label: string }[];
    hidden: readonly string[];
    onChange: (hidden: string[]) => void;
  };
}

/** What stands above a table: search, filters, how many rows, and which columns. */
export const TableBar = ({ search, onSearch, count, placeholder, children, columns }: TableBarProps) => {
  const { t } = useTranslation();
  return (
    <Group gap="xs">
      <TextInput
        type="search"
        size="sm"
        flex="1 1 14rem"
        maw={420}
        aria-label={t('search')}
        placeholder={placeholder ?? t('search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={search !== '' && <CloseButton size="sm" aria-label={t('clear')} onClick={() => onSearch('')} />}
        value={search}
        onChange={({ currentTarget }) => onSearch(currentTarget.value)}
      />
      {children}
      {columns && (
        <Menu closeOnItemClick={false} position="bottom-end">
          <Menu.Target>
            <Tooltip label={t('columns')}>
              <ActionIcon variant="default" size="lg" aria-label={t('columns')}>
                <IconColumns3 size={16} />
              </ActionIcon>
            </Tooltip>
          </Menu.Target>
          <Menu.Dropdown>
            {columns.all.map(({ id, label }) => (
              <Menu.CheckboxItem
                key={id}
                checked={!columns.hidden.includes(id)}
                onChange={(isShown) =>
                  columns.onChange(isShown ? columns.hidden.filter((one) => one !== id) : [...columns.hidden, id])
                }
              >
                {label}
              </Menu.CheckboxItem>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {count !== undefined && (
        <Text size="sm" c="dimmed" ml="auto">
          {t('rows', { count, shown: formatNumber(count) })}
        </Text>
      )}
    </Group>
  );
};
