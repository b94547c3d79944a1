import type { RouteObject } from 'react-router';

/** Screens of this neighbourhood. */
export const systemRoutes: RouteObject[] = [
  { path: '/', lazy: async () => ({ Component: (await import('./overview/overview.tsx')).Overview }) },
  {
    path: '/backups',
    lazy: async () => ({ Component: (await import('./backups/backups.tsx')).Backups }),
    children: [
      { path: 'new', lazy: async () => ({ Component: (await import('./backups/new-backup.tsx')).NewBackup }) },
      { path: 'upload', lazy: async () => ({ Component: (await import('./backups/upload-backup.tsx')).UploadBackup }) },
      {
        path: ':name/verify',
        lazy: async () => ({ Component: (await import('./backups/verify-backup.tsx')).VerifyBackup }),
      },
      {
        path: ':name',
        lazy: async () => ({ Component: (await import('./backups/restore-backup.tsx')).RestoreBackup }),
      },
    ],
  },
  { path: '/emergency', lazy: async () => ({ Component: (await import('./emergency/emergency.tsx')).Emergency }) },
  { path: '/settings', lazy: async () => ({ Component: (await import('./settings/settings.tsx')).Settings }) },
  { path: '/history', lazy: async () => ({ Component: (await import('./history/history.tsx')).History }) },
  { path: '/about', lazy: async () => ({ Component: (await import('./about/about.tsx')).About }) },
  { path: '/import', lazy: async () => ({ Component: (await import('./import/import.tsx')).Import }) },
  {
    path: '/guide',
    lazy: async () => ({ Component: (await import('./guide/guide.tsx')).Guide }),
  },
  {
    path: '/guide/:page',
    lazy: async () => ({ Component: (await import('./guide/guide.tsx')).GuidePageView }),
  },
];
