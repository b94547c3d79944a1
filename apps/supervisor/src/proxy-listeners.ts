import type { Config } from '@sallyport/deployment/config';
import { formatAddress } from '@sallyport/deployment/listen';
import { type Choice, chooseListener } from './listeners.ts';

/** Where the data plane listens, as the settings write it. */
export interface ProxyAddresses {
  http: string;
  https: string;
}

type Wanted = Pick<Config, 'proxyHttp' | 'proxyHttps'>;

const written = ({ listen }: Choice): string => formatAddress(listen.host, listen.port);

/** The configured addresses; undefined where the defaults are to be tried. */
export const configuredAddresses = ({ proxyHttp, proxyHttps }: Wanted): Partial<ProxyAddresses> => ({
  ...(proxyHttp && { http: formatAddress(proxyHttp.host, proxyHttp.port) }),
  ...(proxyHttps && { https: formatAddress(proxyHttps.host, proxyHttps.port) }),
});

/** Chooses both addresses, with a line to print for each that is not the standard one. Throws as `chooseListener` does. */
export const chooseAddresses = async (config: Wanted): Promise<{ addresses: ProxyAddresses; notices: string[] }> => {
  const http = await chooseListener({
    variable: 'SALLYPORT_PROXY_HTTP',
    configured: config.proxyHttp,
    standardPort: 80,
    fallbackPort: 8000,
  });
  const https = await chooseListener({
    variable: 'SALLYPORT_PROXY_HTTPS',
    configured: config.proxyHttps,
    standardPort: 443,
    fallbackPort: 8443,
  });
  if (written(http) === written(https)) throw new Error('SALLYPORT_PROXY_HTTPS is the same as SALLYPORT_PROXY_HTTP');
  const notices = [http.notice, https.notice].filter((notice) => notice !== undefined);
  return { addresses: { http: written(http), https: written(https) }, notices };
};
