import type { RouteObject } from 'react-router';

/** Screens of this neighbourhood. */
export const protectionRoutes: RouteObject[] = [
  {
    path: '/security',
    lazy: async () => ({ Component: (await import('./security/security.tsx')).Security }),
  },
  {
    path: '/blocks',
    lazy: async () => ({ Component: (await import('./blocks/blocks.tsx')).Blocks }),
    children: [{ path: ':reference', lazy: async () => ({ Component: (await import('./blocks/block.tsx')).Block }) }],
  },
  { path: '/logs', lazy: async () => ({ Component: (await import('./logs/logs.tsx')).Logs }) },
  {
    path: '/decisions',
    lazy: async () => ({ Component: (await import('./decisions/decisions.tsx')).Decisions }),
    children: [{ path: 'new', lazy: async () => ({ Component: (await import('./decisions/ban.tsx')).Ban }) }],
  },
  {
    path: '/security/notifications',
    lazy: async () => ({ Component: (await import('./notifications/notifications.tsx')).Notifications }),
  },
  {
    path: '/access-lists',
    lazy: async () => ({ Component: (await import('./access-lists/access-lists.tsx')).AccessLists }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./access-lists/access-list-form.tsx')).AccessListForm }),
    })),
  },
];
