import type { Registry } from '@prometheus-io/client';
import type { CertificateStep, LogEntry, NotificationEvent, SettingKey } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import type { App } from '../../../http/app-type.ts';
import { getSite } from '../../../net/ask-site.ts';
import type { NameServers } from '../../../net/name-servers.ts';
import { systemLookup } from '../../../net/system-lookup.ts';
import type { Ground } from '../../ground.ts';
import type { ProvePassword } from '../certificates/routes.ts';
import type { CertificatePlane, Certificates } from '../certificates/service.ts';
import type { DnsProviderAccess } from '../dns-providers/access.ts';
import type { DnsRecordWriter } from '../dns-providers/writer.ts';
import type { InternalCa } from '../internal-ca/service.ts';
import { accountRoutes } from './accounts/routes.ts';
import { createAccounts } from './accounts/service.ts';
import { accountStore } from './accounts/store.ts';
import type { AcmeChallenges } from './challenges/service.ts';
import { createAcmeOrder } from './orders/acme-order.ts';
import { createAttempt } from './orders/attempt.ts';
import { createAuto } from './orders/auto/service.ts';
import { autoStore } from './orders/auto/store.ts';
import { createRenewalCheck } from './orders/check-renewal.ts';
import { expiryStore } from './orders/expiry/store.ts';
import { createExpiryWatch } from './orders/expiry/watch.ts';
import { createLedger } from './orders/ledger/service.ts';
import { ledgerStore } from './orders/ledger/store.ts';
import { registerOrderMetrics } from './orders/metrics.ts';
import { eventOf, type Outcome } from './orders/outcome.ts';
import { orderRoutes } from './orders/routes.ts';
import { createOrders, type OrderDeps } from './orders/service.ts';
import { type OrderWithSubject, orderStore } from './orders/store.ts';
import { createWorker } from './orders/worker.ts';
import { createOrderPreflight } from './preflight/of-order.ts';
import { preflightRoutes } from './preflight/routes.ts';
import { createPreflight } from './preflight/service.ts';
import { revokingRoutes } from './revoking/routes.ts';
import { createRevoking } from './revoking/service.ts';
import { revocationStore } from './revoking/store.ts';

/** What orders need of DNS providers. */
export interface DnsForOrders {
  find: OrderDeps['findProvider'];
  named: OrderDeps['findProviderByName'];
  /** How one is spoken to. Rejects when there is none of that number. */
  access: (id: number) => Promise<DnsProviderAccess>;
  records: DnsRecordWriter;
  /** DNS as it is to be asked at this moment. */
  nameServers: () => Promise<NameServers>;
  /** Sets the record of a made-up challenge for a name and takes it away; tells what came of it. */
  tryRecord: (id: number, name: string) => Promise<{ ok: boolean; message: string }>;
}

export interface AcmeDeps {
  /** The value of a setting that is in force. */
  setting: (key: SettingKey) => Promise<string>;
  /** A UUID by which other nodes on the same store know this one. */
  node: string;
  certificates: Certificates;
  plane: CertificatePlane;
  challenges: AcmeChallenges;
  /** Who writes records, for dns-01. */
  dns: DnsForOrders;
  internalCa: Pick<InternalCa, 'issue' | 'fault'>;
  /** Puts a line into the live log. */
  publish: (entry: LogEntry) => void;
  /** Tells an event to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  registry: Registry;
  provePassword: ProvePassword;
}

/** Wires what has certificates from authorities: accounts with them, orders and renewals. */
export const createAcme = (ground: Ground, deps: AcmeDeps) => {
  const { database, vault, record, clock, log } = ground;
  const { setting, node, certificates, plane, challenges, dns, internalCa, publish, tell, registry } = deps;
  const { kysely: db, transact, transactAside } = database;
  const random = Math.random;
  const accounts = createAccounts({
    db,
    transactAside,
    store: accountStore,
    vault,
    record,
    added: () => auto.changed(),
    clock,
    log,
  });
  const findAccount = (id: number) => accountStore(db).find(id);

  const defaults = async () => ({
    account: await setting('acme.account'),
    dnsProvider: await setting('acme.dns_provider'),
  });

  const stepped = ({ uuid, name }: OrderWithSubject, { name: step, status, message }: CertificateStep): void =>
    publish({
      level: status === 'failed' ? 'warn' : 'info',
      message: `Certificate ${name}: ${message}`,
      timestamp: clock().toISOString(),
      source: 'guard',
      fields: { event: 'certificate_step', certificate: uuid, step, status },
    });

  const metrics = registerOrderMetrics(registry, { soonest: expiryStore(db).soonest, clock });
  const ended = (outcome: Outcome): void => {
    metrics.orders.inc({ outcome: outcome.result });
    const event = eventOf(outcome, clock());
    if (event) tell(event);
  };
  const expiry = createExpiryWatch({ store: expiryStore(db), tell, clock, log });

  const ledger = createLedger({ db, transactAside, store: ledgerStore, clock });
  const preflight = createPreflight({
    nameServers: dns.nameServers,
    challenges,
    get: ({ address, port }, name, path, signal) => getSite({ address, port, isTls: false }, name, signal, path),
    port: async () => Number(await setting('acme.http_port')),
    lookup: systemLookup,
  });
  const attempt = createAttempt({
    db,
    transact,
    transactAside,
    store: orderStore,
    findAccount,
    vault,
    acmeOrder: createAcmeOrder({ ledger, preflight, challenges, dns, clock, log }),
    issueInternally: internalCa.issue,
    replace: certificates.within.replace,
    plane,
    ledger,
    stepped,
    ended,
    clock,
    random,
    log,
  });
  const auto = createAuto({
    db,
    transact,
    store: autoStore,
    orders: orderStore,
    certificates,
    accounts,
    findProviderByName: dns.named,
    defaults,
    syncCertificates: plane.syncCertificates,
    nudge: () => worker.nudge(),
    clock,
    log,
  });
  const worker = createWorker({
    store: orderStore(db),
    node,
    isAlone: database.kind === 'sqlite',
    attempt,
    checkRenewal: createRenewalCheck({ db, store: orderStore, findAccount, vault, clock, random, log }),
    isWanted: auto.isWanted,
    clock,
    log,
  });
  const orders = createOrders({
    db,
    transact,
    store: orderStore,
    certificates,
    accounts,
    findProvider: dns.find,
    findProviderByName: dns.named,
    defaults,
    syncCertificates: plane.syncCertificates,
    nudge: worker.nudge,
    record,
    clock,
  });

  const preflightOfOrder = createOrderPreflight({
    plan: orders.plan,
    findAccount,
    vault,
    preflight,
    ledger,
    internalFault: internalCa.fault,
    tryRecord: dns.tryRecord,
    clock,
  });

  const revoking = createRevoking({
    ...{ db, transact, transactAside, store: revocationStore, orders: orderStore, certificates, findAccount, vault },
    ...{ isAlone: database.kind === 'sqlite', syncCertificates: plane.syncCertificates, nudge: worker.nudge },
    ...{ tell, clock, random, log },
  });

  return {
    async routes(app: App): Promise<void> {
      await accountRoutes(accounts)(app);
      await orderRoutes(orders)(app);
      await preflightRoutes(preflightOfOrder)(app);
      await revokingRoutes(revoking, deps.provePassword)(app);
    },

    /** To be told that hosts or settings changed: some host may lack a certificate now. */
    hostsChanged: auto.changed,
    /** Has all certificates of the internal authority signed anew; `nudge` afterwards. */
    renewInternal: (tx: Executor): Promise<void> => orderStore(tx).renewInternal(clock().toISOString()),
    nudge: worker.nudge,
    /** See `createAuto`. */
    warningsOf: auto.warningsOf,

    /** Works at orders that are due, and looks after hosts with `auto_certificate`, until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      const working = await worker.start();
      const looking = auto.start();
      const watching = expiry.start();
      const asking = await revoking.start();
      return {
        async stop() {
          await asking.stop();
          await watching.stop();
          await looking.stop();
          await working.stop();
        },
      };
    },
  };
};
