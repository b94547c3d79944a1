import { useLocalStorage } from '@mantine/hooks';

/** Names of a table's columns that are not shown, as it was last chosen in this browser. */
export const useHiddenColumns = (table: string, initial: string[] = []) =>
  useLocalStorage<string[]>({
    key: `sallyport.columns.${table}`,
    defaultValue: initial,
    getInitialValueInEffect: false,
  });
