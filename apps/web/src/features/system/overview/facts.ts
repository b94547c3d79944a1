import type {
  Backup,
  BlockSummary,
  CertificateInUse,
  EmergencyStatus,
  Health,
  ProxyHost,
  SecurityStatus,
} from '@sallyport/contract';
import { useAnswer, useRead } from '../../../api/query.ts';

const OFTEN_MS = 10_000;
const SELDOM_MS = 60_000;
/** So many refusals are looked at, newest first. */
const REFUSALS = 500;

/** Whatever tells how things stand, as far as an administrator or somebody else may know it. What is not known (yet) is undefined. */
export const useFacts = (isAdmin: boolean) => {
  const health = useRead<Health>('/health', { everyMs: OFTEN_MS });
  const security = useRead<SecurityStatus>('/security/status', { everyMs: OFTEN_MS });
  const emergency = useRead<EmergencyStatus>('/emergency/status', { everyMs: SELDOM_MS });
  const hosts = useRead<ProxyHost[]>('/proxy-hosts', { everyMs: SELDOM_MS });
  const certificates = useRead<CertificateInUse[]>('/certificates', { everyMs: SELDOM_MS });
  const backups = useRead<Backup[]>('/backups', { everyMs: SELDOM_MS, isOn: isAdmin });
  const blocks = useAnswer<{ blocks: BlockSummary[] }>('/security/blocks', {
    query: { limit: REFUSALS },
    everyMs: SELDOM_MS,
    isOn: isAdmin,
  });
  const all = [health, security, emergency, hosts, certificates, backups, blocks];
  return {
    health: health.data,
    security: security.data,
    emergency: emergency.data,
    hosts: hosts.data,
    certificates: certificates.data,
    backups: backups.data,
    blocks: blocks.data && { newest: blocks.data.data.blocks, total: blocks.data.total ?? 0 },
    /** The first thing that could not be read. */
    error: all.find(({ error }) => error)?.error,
    refetch: () => Promise.all(all.filter(({ error }) => error).map(({ refetch }) => refetch())),
  };
};
export type Facts = ReturnType<typeof useFacts>;
