import {
  type Icon,
  IconApi,
  IconArchive,
  IconCertificate,
  IconChartDots3,
  IconClipboardList,
  IconFileImport,
  IconGauge,
  IconHistory,
  IconInfoCircle,
  IconKey,
  IconLifebuoy,
  IconLock,
  IconRadar2,
  IconServer2,
  IconSettings,
  IconShield,
  IconShieldX,
  IconUsers,
  IconWall,
  IconWorldWww,
} from '../ui/icons.ts';

/** A screen that the navigation leads to. */
export interface View {
  /** Its address; a text of the same name is in the namespace `views`. */
  path: string;
  name: ViewName;
  icon: Icon;
  /** Only administrators get there. */
  isAdmins?: boolean;
}

export type ViewName =
  | 'overview'
  | 'hosts'
  | 'servers'
  | 'certificates'
  | 'accessLists'
  | 'security'
  | 'firewall'
  | 'blocks'
  | 'decisions'
  | 'crowdsec'
  | 'logs'
  | 'users'
  | 'tokens'
  | 'audit'
  | 'settings'
  | 'backups'
  | 'history'
  | 'import'
  | 'emergency'
  | 'about';

export type Section = 'traffic' | 'protection' | 'accounts' | 'system';

/** The navigation: the neighbourhoods of the server, and their screens. */
export const SECTIONS: readonly { name: Section | undefined; views: readonly View[] }[] = [
  { name: undefined, views: [{ path: '/', name: 'overview', icon: IconGauge }] },
  {
    name: 'traffic',
    views: [
      { path: '/hosts', name: 'hosts', icon: IconWorldWww },
      { path: '/servers', name: 'servers', icon: IconServer2 },
      { path: '/certificates', name: 'certificates', icon: IconCertificate },
    ],
  },
  {
    name: 'protection',
    views: [
      { path: '/security', name: 'security', icon: IconShield },
      { path: '/firewall', name: 'firewall', icon: IconWall },
      { path: '/blocks', name: 'blocks', icon: IconShieldX, isAdmins: true },
      { path: '/decisions', name: 'decisions', icon: IconLock },
      { path: '/crowdsec', name: 'crowdsec', icon: IconRadar2 },
      { path: '/access-lists', name: 'accessLists', icon: IconKey },
      { path: '/logs', name: 'logs', icon: IconChartDots3 },
    ],
  },
  {
    name: 'accounts',
    views: [
      { path: '/users', name: 'users', icon: IconUsers, isAdmins: true },
      { path: '/tokens', name: 'tokens', icon: IconApi, isAdmins: true },
      { path: '/audit', name: 'audit', icon: IconClipboardList, isAdmins: true },
    ],
  },
  {
    name: 'system',
    views: [
      { path: '/settings', name: 'settings', icon: IconSettings, isAdmins: true },
      { path: '/backups', name: 'backups', icon: IconArchive, isAdmins: true },
      { path: '/history', name: 'history', icon: IconHistory },
      { path: '/import', name: 'import', icon: IconFileImport, isAdmins: true },
      { path: '/emergency', name: 'emergency', icon: IconLifebuoy },
      { path: '/about', name: 'about', icon: IconInfoCircle },
    ],
  },
];
