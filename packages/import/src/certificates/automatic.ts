import { warn } from '../loss.ts';
import type { ImportedHost, ImportWarning } from '../reading.ts';

/** What becomes of certificates that a product got by itself: told once, at the first host that has one. */
export const aboutAutomatic = (product: string, hosts: readonly ImportedHost[]): ImportWarning[] => {
  const first = hosts.find(({ auto_certificate }) => auto_certificate);
  if (!first) return [];
  const message = `${product} has certificates by itself, and so have these hosts here (auto_certificate): for public names as soon as there is an account with an authority, which does not come along`;
  return [warn(first, message)];
};

/** Directories in which programs that get certificates by themselves keep them: certbot, acme.sh, dehydrated, lego, Caddy. */
const KEPT_BY_CLIENTS = /(?:^|[/\\])(?:letsencrypt|certbot|dehydrated|lego|caddy|\.acme\.sh|acme(?:\.sh)?)[/\\]/i;

/** Whether the path of a certificate is one of a program that gets and renews it by itself. */
export const isKeptByClient = (path: string): boolean => KEPT_BY_CLIENTS.test(path);
