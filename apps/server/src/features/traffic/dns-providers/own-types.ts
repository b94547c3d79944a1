import type { DnsProviderType } from '@sallyport/contract';

/** Providers that we write to ourselves; of lego's, one that is called the same has `lego-` before its code. */
export const OWN_TYPES = [
  {
    type: 'rfc2136',
    name: 'Dynamic updates (RFC 2136: BIND, Knot, PowerDNS and others)',
    fields: [
      { key: 'nameserver', label: 'Host name or address of the primary name server', secret: false, required: true },
      { key: 'port', label: 'Its port. Default 53', secret: false, required: false },
      {
        key: 'zone',
        label: 'The zone that is updated. Default: the one that the name lies in',
        secret: false,
        required: false,
      },
      {
        key: 'tsig_key_name',
        label: 'Name of the TSIG key. Without one the server has to go by our address',
        secret: false,
        required: false,
      },
      {
        key: 'tsig_algorithm',
        label: 'hmac-md5, hmac-sha1, hmac-sha224, hmac-sha256, hmac-sha384 or hmac-sha512. Default hmac-sha256',
        secret: false,
        required: false,
      },
      { key: 'tsig_secret', label: 'Secret of the TSIG key, in base64', secret: true, required: false },
      { key: 'ttl', label: 'Seconds that others may keep the record. Default 60', secret: false, required: false },
    ],
  },
  {
    type: 'webhook',
    name: 'HTTP hook of your own',
    fields: [
      { key: 'url', label: 'Where {action, domain, name, value} is posted to', secret: false, required: true },
      { key: 'bearer_token', label: 'Sent as Authorization: Bearer', secret: true, required: false },
      { key: 'signing_secret', label: 'Signs the body: X-Sallyport-Signature', secret: true, required: false },
    ],
  },
] as const satisfies DnsProviderType[];
