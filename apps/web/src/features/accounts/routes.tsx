import type { RouteObject } from 'react-router';

/** What is seen before one is signed in. */
export const publicRoutes: RouteObject[] = [
  { path: '/sign-in', lazy: async () => ({ Component: (await import('./sign-in/sign-in.tsx')).SignIn }) },
  { path: '/setup', lazy: async () => ({ Component: (await import('./setup/setup.tsx')).Setup }) },
  {
    path: '/accept-invite',
    lazy: async () => ({ Component: (await import('./invite/accept-invite.tsx')).AcceptInvite }),
  },
];

/** Screens of who may sign in, and what they did. */
export const accountRoutes: RouteObject[] = [
  { path: '/account', lazy: async () => ({ Component: (await import('./account/account.tsx')).Account }) },
  {
    path: '/users',
    lazy: async () => ({ Component: (await import('./users/users.tsx')).Users }),
    children: [
      { path: 'invite', lazy: async () => ({ Component: (await import('./users/invite-form.tsx')).InviteForm }) },
      ...['new', ':id'].map((path) => ({
        path,
        lazy: async () => ({ Component: (await import('./users/user-form.tsx')).UserForm }),
      })),
    ],
  },
  {
    path: '/tokens',
    lazy: async () => ({ Component: (await import('./tokens/tokens.tsx')).Tokens }),
    children: [{ path: 'new', lazy: async () => ({ Component: (await import('./tokens/token-form.tsx')).TokenForm }) }],
  },
  { path: '/audit', lazy: async () => ({ Component: (await import('./audit/audit-trail.tsx')).AuditTrail }) },
];
