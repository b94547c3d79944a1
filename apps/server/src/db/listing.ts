import type { ListQuery } from '@sallyport/contract';
import { type SelectQueryBuilder, sql } from 'kysely';
import { refuse } from '../errors.ts';
import type { Tables } from './tables.ts';

/** Rows of one answer and how many there are in all. */
export interface Page<T> {
  rows: T[];
  total: number;
}

export interface PageRequest {
  sort: string;
  order: 'asc' | 'desc';
  /** Undefined: everything, as the spec has it (Limits, Pagination). */
  limit: number | undefined;
  offset: number;
}

/** Rows of a page when `page` is given without `per_page`. */
export const DEFAULT_PER_PAGE = 50;

/** Reads the list parameters; throws a 400 for a column that can't be sorted by. Unsorted means oldest first. */
export const pageOf = (query: ListQuery, sortable: readonly string[]): PageRequest => {
  const { sort = 'id', order = 'asc', page, per_page } = query;
  if (query.sort !== undefined && !sortable.includes(sort)) {
    throw refuse.invalid(`sort must be one of: ${sortable.join(', ')}`);
  }
  const isPaged = page !== undefined || per_page !== undefined;
  const limit = isPaged ? (per_page ?? DEFAULT_PER_PAGE) : undefined;
  return { sort, order, limit, offset: limit === undefined ? 0 : ((page ?? 1) - 1) * limit };
};

/** A condition: one of `columns` contains `text`, whatever its case. */
export const containsText = (columns: readonly string[], text: string) => {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const tests = columns.map((column) => sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`);
  return sql<boolean>`(${sql.join(tests, sql` or `)})`;
};

/** Runs a list query with paging and a stable order; counts only when there is more than this page. */
export const listOf = async <Table extends keyof Tables, Row, T>(
  rows: SelectQueryBuilder<Tables, Table, Row>,
  count: { executeTakeFirstOrThrow(): Promise<{ total: number | string | bigint }> },
  { sort, order, limit, offset }: PageRequest,
  fromRow: (row: Row) => T,
): Promise<Page<T>> => {
  let query = rows.orderBy(sort as never, order);
  if (sort !== 'id') query = query.orderBy('id' as never, order);
  if (limit === undefined) {
    const all = (await query.execute()).map(fromRow);
    return { rows: all, total: all.length };
  }
  const { total } = await count.executeTakeFirstOrThrow();
  const page = await query.limit(limit).offset(offset).execute();
  return { rows: page.map(fromRow), total: Number(total) };
};
