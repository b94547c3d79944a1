import type { GuardConfig } from '@sallyport/contract';

/** An access list, number 10, that lets 192.0.2.0/24 in. */
export const OFFICE: GuardConfig['access']['lists'][number] = {
  id: 10,
  name: 'office',
  description: '',
  type: 'allow',
  rules: [{ cidr: '192.0.2.0/24' }],
  countries: [],
  local_network_only: false,
  enabled: true,
};
