import type { RouteObject } from 'react-router';

/** Screens of what keeps harm away. */
export const protectionRoutes: RouteObject[] = [
  {
    path: '/access-lists',
    lazy: async () => ({ Component: (await import('./access-lists/access-lists.tsx')).AccessLists }),
    children: ['new', ':uuid'].map((path) => ({
      path,
      lazy: async () => ({ Component: (await import('./access-lists/access-list-form.tsx')).AccessListForm }),
    })),
  },
];
