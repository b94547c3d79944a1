import type {
  Backup,
  BlockStatistics,
  BlockSummary,
  CertificateInUse,
  EmergencyStatus,
  Health,
  ProxyHostsSummary,
  SecurityStatus,
} from '@sallyport/contract';
import { useAnswer, useRead } from '../../../api/query.ts';

const OFTEN_MS = 10_000;
const SELDOM_MS = 60_000;
/** So many refusals are shown, newest first. */
const NEWEST = 6;
const HALF_HOUR_MS = 1_800_000;
const PARTS = 48;

/** The last day in half hours, the one that has begun among them: everybody who looks asks the same, and bars keep their places. */
const lastDay = () => {
  const until = Math.ceil((Date.now() + 1) / HALF_HOUR_MS) * HALF_HOUR_MS;
  const iso = (moment: number) => new Date(moment).toISOString();
  return { since: iso(until - PARTS * HALF_HOUR_MS), until: iso(until), parts: PARTS };
};

/** Whatever tells how things stand, as far as an administrator or somebody else may know it. What is not known (yet) is undefined. */
export const useFacts = (isAdmin: boolean) => {
  const health = useRead<Health>('/health', { everyMs: OFTEN_MS });
  const security = useRead<SecurityStatus>('/security/status', { everyMs: OFTEN_MS });
  const emergency = useRead<EmergencyStatus>('/emergency/status', { everyMs: SELDOM_MS });
  const hosts = useRead<ProxyHostsSummary>('/proxy-hosts/summary', { everyMs: SELDOM_MS });
  const certificates = useRead<CertificateInUse[]>('/certificates', { everyMs: SELDOM_MS });
  const backups = useRead<Backup[]>('/backups', { everyMs: SELDOM_MS, isOn: isAdmin });
  const blocks = useAnswer<{ blocks: BlockSummary[] }>('/security/blocks', {
    query: { limit: NEWEST },
    everyMs: SELDOM_MS,
    isOn: isAdmin,
  });
  const refusals = useRead<BlockStatistics>('/security/blocks/summary', {
    query: lastDay(),
    everyMs: SELDOM_MS,
    isOn: isAdmin,
  });
  const all = [health, security, emergency, hosts, certificates, backups, blocks, refusals];
  return {
    health: health.data,
    security: security.data,
    emergency: emergency.data,
    hosts: hosts.data,
    certificates: certificates.data,
    backups: backups.data,
    blocks: blocks.data && { newest: blocks.data.data.blocks, total: blocks.data.total ?? 0 },
    refusals: refusals.data,
    /** The first thing that could not be read. */
    error: all.find(({ error }) => error)?.error,
    refetch: () => Promise.all(all.filter(({ error }) => error).map(({ refetch }) => refetch())),
  };
};
export type Facts = ReturnType<typeof useFacts>;
