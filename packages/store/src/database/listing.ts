import type { ListQuery } from '@sallyport/contract';
import { type SelectQueryBuilder, sql } from 'kysely';
import { refuse } from '../errors.ts';
import type { Tables } from './tables.ts';

/** Rows of one answer, and where they stand among all that match. */
export interface Page<T> {
  rows: T[];
  total: number;
  /** From 1. */
  page: number;
  /** Undefined: the answer holds everything. */
  perPage: number | undefined;
}

export interface PageRequest {
  /** Column to sort by. */
  sort: string;
  /** Column that makes the order of equal rows the same every time. */
  tie: string;
  order: 'asc' | 'desc';
  page: number;
  /** Undefined: everything, as the spec has it (Limits, Pagination). */
  perPage: number | undefined;
}

/** Rows of a page when `page` is given without `per_page`. */
const DEFAULT_PER_PAGE = 50;

/** What a list does that is not asked for anything. */
export interface ListDefaults {
  /** Rows at most; undefined: all. */
  perPage?: number;
  order?: 'asc' | 'desc';
  /** The row's number; `id` when not given. */
  tie?: string;
}

/** `limit` is the older name of `per_page` on lists that had it before there were pages. */
type PagedQuery = ListQuery & { limit?: number };

/** Fields that a list may be sorted by; with the columns they stand for where these differ. */
export type Sortable = readonly string[] | Readonly<Record<string, string>>;

const columnOf = (sortable: Sortable, field: string): string => {
  const columns: Readonly<Record<string, string>> = Array.isArray(sortable)
    ? Object.fromEntries(sortable.map((name) => [name, name]))
    : (sortable as Readonly<Record<string, string>>);
  if (!Object.hasOwn(columns, field)) {
    throw refuse.invalid(`sort must be one of: ${Object.keys(columns).join(', ')}`);
  }
  return columns[field] as string;
};

/** Reads the list parameters; throws a 400 for a field that can't be sorted by. Unsorted means by the row's number. */
export const pageOf = (query: PagedQuery, sortable: Sortable, defaults: ListDefaults = {}): PageRequest => {
  const { page, per_page, limit } = query;
  if (per_page !== undefined && limit !== undefined && per_page !== limit) {
    throw refuse.invalid('per_page and limit are two names of one thing; give one of them');
  }
  const tie = defaults.tie ?? 'id';
  const given = per_page ?? limit ?? defaults.perPage;
  return {
    sort: query.sort === undefined ? tie : columnOf(sortable, query.sort),
    tie,
    order: query.order ?? (query.sort === undefined ? defaults.order : undefined) ?? 'asc',
    page: page ?? 1,
    perPage: page === undefined ? given : (given ?? DEFAULT_PER_PAGE),
  };
};

/** A condition: one of `columns` contains `text`, whatever its case. */
export const containsText = (columns: readonly string[], text: string) => {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const tests = columns.map((column) => sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`);
  return sql<boolean>`(${sql.join(tests, sql` or `)})`;
};

/** Runs a list query with paging and a stable order; counts only when there may be more than this page. */
export const listOf = async <Table extends keyof Tables, Row, T>(
  rows: SelectQueryBuilder<Tables, Table, Row>,
  count: { executeTakeFirstOrThrow(): Promise<{ total: number | string | bigint }> },
  { sort, tie, order, page, perPage }: PageRequest,
  fromRow: (row: Row) => T,
): Promise<Page<T>> => {
  let query = rows.orderBy(sort as never, order);
  if (sort !== tie) query = query.orderBy(tie as never, order);
  if (perPage === undefined) {
    const all = (await query.execute()).map(fromRow);
    return { rows: all, total: all.length, page, perPage };
  }
  const found = (
    await query
      .limit(perPage)
      .offset((page - 1) * perPage)
      .execute()
  ).map(fromRow);
  const isAll = page === 1 && found.length < perPage;
  const total = isAll ? found.length : Number((await count.executeTakeFirstOrThrow()).total);
  return { rows: found, total, page, perPage };
};

const compare = (a: unknown, b: unknown): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  return left < right ? -1 : Number(left > right);
};

/** The same for rows that are in memory: what is few, or comes from no table. With `defaults.order` desc they stand newest first. */
export const pageOfRows = <T extends object>(
  rows: readonly T[],
  query: PagedQuery,
  fields: { sortable: readonly (keyof T & string)[]; searchable: readonly (keyof T & string)[] },
  defaults: Pick<ListDefaults, 'order'> = {},
): Page<T> => {
  const { sort, order, page, perPage } = pageOf(query, fields.sortable, defaults);
  const text = query.search?.toLowerCase();
  const found =
    text === undefined
      ? [...rows]
      : rows.filter((row) => fields.searchable.some((name) => String(row[name]).toLowerCase().includes(text)));
  if (query.sort !== undefined) found.sort((a, b) => compare(a[sort as keyof T], b[sort as keyof T]));
  if (order === 'desc') found.reverse();
  const total = found.length;
  if (perPage === undefined) return { rows: found, total, page, perPage };
  return { rows: found.slice((page - 1) * perPage, page * perPage), total, page, perPage };
};
