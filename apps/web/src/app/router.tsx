import { createBrowserRouter, type RouteObject } from 'react-router';
import { accountRoutes, publicRoutes } from '../features/accounts/routes.tsx';
import { protectionRoutes } from '../features/protection/routes.tsx';
import { systemRoutes } from '../features/system/routes.tsx';
import { trafficRoutes } from '../features/traffic/routes.tsx';
import { needTexts } from '../i18n/index.ts';
import { Frame } from './frame.tsx';
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
  {
    element: <Frame />,
    errorElement: <Lost />,
    children: [
      ...withTexts('accounts', publicRoutes),
      {
        element: <Gate />,
        errorElement: <Lost />,
        // What a screen can't do takes the ways to the others away from nobody.
        children: [{ element: <Shell />, children: [{ errorElement: <Lost />, children: screens }] }],
      },
    ],
  },
]);
