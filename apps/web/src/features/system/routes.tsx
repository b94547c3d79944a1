import type { RouteObject } from 'react-router';

/** Screens of this neighbourhood. */
export const systemRoutes: RouteObject[] = [
  { path: '/', lazy: async () => ({ Component: (await import('./overview/overview.tsx')).Overview }) },
];
