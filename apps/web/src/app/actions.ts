import {
  type Icon,
  IconArchive,
  IconBan,
  IconCertificate,
  IconKey,
  IconPlus,
  IconSend,
  IconServer2,
  IconUpload,
  IconUserCircle,
} from '../ui/icons.ts';

export type ActionName =
  | 'addHost'
  | 'addServer'
  | 'orderCertificate'
  | 'uploadCertificate'
  | 'addAcmeAccount'
  | 'addDnsProvider'
  | 'addAccessList'
  | 'ban'
  | 'inviteUser'
  | 'addToken'
  | 'makeBackup'
  | 'uploadBackup'
  | 'ownAccount';

/** What the palette can begin: each has an address of its own, and a text of the same name in `common:actions`. */
export const ACTIONS: readonly { path: string; name: ActionName; icon: Icon; isAdmins?: boolean }[] = [
  { path: '/hosts/new', name: 'addHost', icon: IconPlus },
  { path: '/servers/new', name: 'addServer', icon: IconServer2, isAdmins: true },
  { path: '/certificates/order', name: 'orderCertificate', icon: IconCertificate, isAdmins: true },
  { path: '/certificates/upload', name: 'uploadCertificate', icon: IconUpload, isAdmins: true },
  { path: '/certificates/accounts/new', name: 'addAcmeAccount', icon: IconKey, isAdmins: true },
  { path: '/certificates/dns-providers/new', name: 'addDnsProvider', icon: IconKey, isAdmins: true },
  { path: '/access-lists/new', name: 'addAccessList', icon: IconKey, isAdmins: true },
  { path: '/decisions/new', name: 'ban', icon: IconBan, isAdmins: true },
  { path: '/users/invite', name: 'inviteUser', icon: IconSend, isAdmins: true },
  { path: '/tokens/new', name: 'addToken', icon: IconKey, isAdmins: true },
  { path: '/backups/new', name: 'makeBackup', icon: IconArchive, isAdmins: true },
  { path: '/backups/upload', name: 'uploadBackup', icon: IconUpload, isAdmins: true },
  { path: '/account', name: 'ownAccount', icon: IconUserCircle },
];
