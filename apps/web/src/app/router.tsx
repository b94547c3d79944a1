import { createBrowserRouter, type RouteObject } from 'react-router';
import { accountRoutes, publicRoutes } from '../features/accounts/routes.tsx';
import { protectionRoutes } from '../features/protection/routes.tsx';
import { systemRoutes } from '../features/system/routes.tsx';
import { trafficRoutes } from '../features/traffic/routes.tsx';
import { Gate } from './gate.tsx';
import { Lost } from './lost.tsx';
import { Shell } from './shell.tsx';

const screens: RouteObject[] = [
  ...systemRoutes,
  ...trafficRoutes,
  ...protectionRoutes,
  ...accountRoutes,
  { path: '*', element: <Lost /> },
];

/** All addresses of the interface. Screens are loaded when they are first opened. */
export const router = createBrowserRouter([
  ...publicRoutes,
  { element: <Gate />, errorElement: <Lost />, children: [{ element: <Shell />, children: screens }] },
]);
