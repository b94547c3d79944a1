import { cidrSet } from '@sallyport/deployment/cidr';
import type { Config } from '@sallyport/deployment/config';
import { isOnEveryAddress, type Listen } from '@sallyport/deployment/listen';
import type { ProxyDoor } from '../net/ask-site.ts';
import { STANDARD_HTTP, STANDARD_HTTPS } from './proxy-settings.ts';

/** How this machine reaches the proxy, as a client would. */
export interface OwnDoors {
  http: ProxyDoor;
  https: ProxyDoor;
}

/** PROXY protocol, version 1: whoever connects is who asks. HAProxy awaits it of trusted proxies. */
const PREFACE = 'PROXY UNKNOWN\r\n';

export const ownDoors = (
  config: Pick<Config, 'proxyHttp' | 'proxyHttps' | 'proxyProtocol' | 'trustedProxies'>,
): OwnDoors => {
  const isTrusted = cidrSet(config.trustedProxies);
  const doorOf = (listen: Listen, isTls: boolean): ProxyDoor => {
    // A connection to one of the own addresses comes from that very address.
    const address = isOnEveryAddress(listen) ? '127.0.0.1' : listen.host;
    const awaitsPreface = config.proxyProtocol && isTrusted(address);
    return { address, port: listen.port, isTls, ...(awaitsPreface ? { preface: PREFACE } : {}) };
  };
  return {
    http: doorOf(config.proxyHttp ?? STANDARD_HTTP, false),
    https: doorOf(config.proxyHttps ?? STANDARD_HTTPS, true),
  };
};
