import type { Page } from '@sallyport/store/database/listing';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends rows as the plain array the spec wants; how many there are and where the other pages are goes into headers (RFC 8288). */
export const sendPage = <T>(request: FastifyRequest, reply: FastifyReply, found: Page<T>): T[] => {
  const { rows, total, page, perPage } = found;
  reply.header('x-total-count', total);
  const last = perPage === undefined ? 1 : Math.max(1, Math.ceil(total / perPage));
  const link = (to: number, rel: string) => {
    const url = new URL(request.url, 'http://localhost');
    if (perPage !== undefined) url.searchParams.set('page', String(to));
    return `<${url.pathname}${url.search}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(last, 'last')];
  if (page > 1) links.push(link(Math.min(page - 1, last), 'prev'));
  if (page < last) links.push(link(page + 1, 'next'));
  reply.header('link', links.join(', '));
  return rows;
};
