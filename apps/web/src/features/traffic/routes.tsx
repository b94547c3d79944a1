import type { RouteObject } from 'react-router';

/** Screens of what is proxied to where. */
export const trafficRoutes: RouteObject[] = [
  {
    path: '/certificates',
    lazy: async () => ({ Component: (await import('./certificates/certificates.tsx')).Certificates }),
    children: [
      {
        path: 'order',
        lazy: async () => ({ Component: (await import('./certificates/order-form.tsx')).OrderForm }),
      },
      {
        path: 'upload',
        lazy: async () => ({ Component: (await import('./certificates/upload.tsx')).Upload }),
      },
      {
        path: ':uuid',
        lazy: async () => ({ Component: (await import('./certificates/certificate-detail.tsx')).CertificateDetail }),
      },
    ],
  },
  {
    path: '/certificates/accounts',
    lazy: async () => ({ Component: (await import('./certificates/accounts.tsx')).Accounts }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./certificates/account-form.tsx')).AccountForm }),
    })),
  },
  {
    path: '/certificates/dns-providers',
    lazy: async () => ({ Component: (await import('./certificates/dns-providers.tsx')).DnsProviders }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./certificates/dns-provider-form.tsx')).DnsProviderForm }),
    })),
  },
  {
    path: '/certificates/authority',
    lazy: async () => ({ Component: (await import('./certificates/authority.tsx')).Authority }),
  },
  {
    path: '/hosts',
    lazy: async () => ({ Component: (await import('./hosts/hosts.tsx')).Hosts }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./hosts/host-form.tsx')).HostForm }),
    })),
  },
  {
    path: '/servers',
    lazy: async () => ({ Component: (await import('./remote-servers/remote-servers.tsx')).RemoteServers }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./remote-servers/remote-server-form.tsx')).RemoteServerForm }),
    })),
  },
];
