import { createServer } from 'node:net';
import type { Listen } from '@sallyport/deployment/listen';

/** Why an address can't be listened on, as the system's error code (EADDRINUSE, EACCES …); undefined when it can. */
export const whyNotBindable = ({ host, port }: Listen): Promise<string | undefined> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    // Without a host Node listens on all addresses, IPv6 and IPv4, as HAProxy will.
    const where = host === '' ? { port } : { host, port };
    probe.listen({ ...where, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });

const meaning: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'only root may use ports below 1024',
  EADDRNOTAVAIL: 'this machine has no such address',
};

/** The code in words. */
export const explainBindError = (code: string): string => meaning[code] ?? code;

/** A listener of the data plane: the configured one, or the ones to try when nothing is configured. */
export interface ProxyListener {
  variable: 'SALLYPORT_PROXY_HTTP' | 'SALLYPORT_PROXY_HTTPS';
  configured: Listen | undefined;
  standardPort: number;
  fallbackPort: number;
}

export type Choice = { listen: Listen; notice: string | undefined };

/**
 * Decides where a data-plane listener goes. `notice` is the line to print when it is not the standard port.
 * Throws an `Error` that names the variable when no candidate can be bound.
 */
export const chooseListener = async (listener: ProxyListener): Promise<Choice> => {
  const { variable, configured, standardPort, fallbackPort } = listener;
  const listen = configured ?? { host: '', port: standardPort };
  const problem = await whyNotBindable(listen);
  if (!problem) return { listen, notice: undefined };
  const reason = `${listen.host}:${listen.port} can't be bound (${explainBindError(problem)})`;
  if (configured) throw new Error(`${variable}: ${reason}`);
  const fallback = { host: '', port: fallbackPort };
  const fallbackProblem = await whyNotBindable(fallback);
  if (fallbackProblem) {
    const both = `${reason}, nor can :${fallbackPort} (${explainBindError(fallbackProblem)})`;
    throw new Error(`${both}: set ${variable} to a free address, for example ${variable}=127.0.0.1:18000`);
  }
  return { listen: fallback, notice: `${reason}, so :${fallbackPort} is used; set ${variable} to choose another` };
};
