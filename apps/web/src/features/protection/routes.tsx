import type { RouteObject } from 'react-router';

/** Screens of this neighbourhood. */
export const protectionRoutes: RouteObject[] = [];
