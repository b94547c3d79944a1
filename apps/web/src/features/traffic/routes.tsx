import type { RouteObject } from 'react-router';

/** Screens of what is proxied to where. */
export const trafficRoutes: RouteObject[] = [
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
