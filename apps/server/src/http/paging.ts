import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_PER_PAGE, type Page } from '../db/listing.ts';

interface PagedQuery {
  page?: number;
  per_page?: number;
}

/** Sends rows as the plain array the spec wants; how many there are and where the next page is goes into headers (RFC 8288). */
export const sendPage = <T>(request: FastifyRequest, reply: FastifyReply, { rows, total }: Page<T>): T[] => {
  reply.header('x-total-count', total);
  const { page, per_page } = request.query as PagedQuery;
  if (page === undefined && per_page === undefined) return rows;
  const current = page ?? 1;
  const last = Math.max(1, Math.ceil(total / (per_page ?? DEFAULT_PER_PAGE)));
  const link = (to: number, rel: string) => {
    const url = new URL(request.url, 'http://localhost');
    url.searchParams.set('page', String(to));
    return `<${url.pathname}${url.search}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(last, 'last')];
  if (current > 1) links.push(link(Math.min(current - 1, last), 'prev'));
  if (current < last) links.push(link(current + 1, 'next'));
  reply.header('link', links.join(', '));
  return rows;
};
