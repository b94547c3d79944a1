import { lazy, Suspense } from 'react';
import { Outlet } from 'react-router';

// Not needed for the first look.
const Notices = lazy(async () => ({ default: (await import('./notices.tsx')).Notices }));

/** What each address has: a screen, and where is said in passing what became of things. */
export const Frame = () => (
  <>
    <Suspense>
      <Notices />
    </Suspense>
    <Outlet />
  </>
);
