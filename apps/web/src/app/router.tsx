import { createBrowserRouter, type RouteObject } from 'react-router';
import { accountRoutes, publicRoutes } from '../features/accounts/routes.tsx';
import { protectionRoutes } from '../features/protection/routes.tsx';
import { systemRoutes } from '../features/system/routes.tsx';
import { trafficRoutes } from '../features/traffic/routes.tsx';
import { needTexts } from '../i18n/index.ts';
import { Gate } from './gate.tsx';
import { Lost } from './lost.tsx';
import { Shell } from './shell.tsx';
import type { Section } from './views.ts';

/** Screens that come together with what they say. */
const withTexts = (namespace: Section, routes: readonly RouteObject[]): RouteObject[] =>
  routes.map((route) => {
    const { lazy } = route;
    if (typeof lazy !== 'function') throw new Error(`${route.path} is not loaded when it is opened`);
    return { ...route, lazy: async () => (await Promise.all([lazy(), needTexts(namespace)]))[0] } as RouteObject;
  });

const screens: RouteObject[] = [
  ...withTexts('system', systemRoutes),
  ...withTexts('traffic', trafficRoutes),
  ...withTexts('protection', protectionRoutes),
  ...withTexts('accounts', accountRoutes),
  { path: '*', element: <Lost /> },
];

/** All addresses of the interface. Screens are loaded when they are first opened. */
export const router = createBrowserRouter([
  ...withTexts('accounts', publicRoutes),
  { element: <Gate />, errorElement: <Lost />, children: [{ element: <Shell />, children: screens }] },
]);
