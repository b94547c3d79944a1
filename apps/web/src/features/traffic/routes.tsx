import type { RouteObject } from 'react-router';

/** Screens of what is proxied to where. */
export const trafficRoutes: RouteObject[] = [
  {
    path: '/servers',
    lazy: async () => ({ Component: (await import('./remote-servers/remote-servers.tsx')).RemoteServers }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./remote-servers/remote-server-form.tsx')).RemoteServerForm }),
    })),
  },
];
