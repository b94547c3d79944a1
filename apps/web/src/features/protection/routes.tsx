import type { RouteObject } from 'react-router';

/** Screens of this neighbourhood. */
export const protectionRoutes: RouteObject[] = [
  {
    path: '/security',
    lazy: async () => ({ Component: (await import('./security/security.tsx')).Security }),
  },
  {
    path: '/firewall',
    lazy: async () => ({ Component: (await import('./firewall/firewall.tsx')).Firewall }),
  },
  {
    path: '/firewall/rules',
    lazy: async () => ({ Component: (await import('./firewall/rules/rulesets.tsx')).Rulesets }),
  },
  ...['/firewall/rules/new', '/firewall/rules/:id'].map((path) => ({
    path,
    lazy: async () => ({ Component: (await import('./firewall/rules/ruleset-form.tsx')).RulesetForm }),
  })),
  {
    path: '/firewall/exclusions',
    lazy: async () => ({ Component: (await import('./firewall/exclusions/exclusions.tsx')).Exclusions }),
    children: [
      {
        path: 'new',
        lazy: async () => ({ Component: (await import('./firewall/exclusions/exclusion-form.tsx')).ExclusionForm }),
      },
    ],
  },
  {
    path: '/firewall/hosts',
    lazy: async () => ({ Component: (await import('./firewall/guarded-hosts.tsx')).GuardedHosts }),
  },
  {
    path: '/crowdsec',
    lazy: async () => ({ Component: (await import('./crowdsec/crowdsec.tsx')).Crowdsec }),
  },
  {
    path: '/crowdsec/presets',
    lazy: async () => ({ Component: (await import('./crowdsec/presets.tsx')).Presets }),
  },
  {
    path: '/crowdsec/console',
    lazy: async () => ({ Component: (await import('./crowdsec/console.tsx')).Console }),
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
