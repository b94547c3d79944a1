import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['black-box', 'chaos', 'server', 'unit'];

/**
 * Files that take longest, longest first: one that began last would run alone while the other processors have nothing to do. A
 * clone has no memory of earlier runs, and how long a file is says little of how long it takes.
 */
const longest = [
  'test/web/hosts.test.ts',
  'apps/cli/src/cli.test.ts',
  'test/web/crowdsec.test.ts',
  'accounts/audit/audit.test.ts',
  'test/guard/fail-closed.test.ts',
  'test/web/firewall.test.ts',
  'crowdsec/console/console.test.ts',
  'http/policy-table.test.ts',
  'test/web/access-lists.test.ts',
  'test/guard/unprepared.test.ts',
  'system/restore/planted.test.ts',
  'crowdsec/presets/presets.test.ts',
  'suite/enforcement.test.ts',
  'system/backups/schedule.test.ts',
  'test/product/restore.test.ts',
  'test/chaos/chaos.test.ts',
  'test/web/front-door.test.ts',
  'test/web/overview.test.ts',
  'test/web/system.test.ts',
  'system/restore/restore.test.ts',
  'test/web/account.test.ts',
  'http/conventions.test.ts',
  'test/chaos/power-cut.test.ts',
  'protection/rulesets/rulesets.test.ts',
  'as-code/as-code.test.ts',
  'suite/enforced-bans.test.ts',
  'test/web/certificates.test.ts',
  'test/web/security.test.ts',
  'acme/revoking/revoking.test.ts',
  'backups/copies/copies.test.ts',
  'test/guard/slow-clients.test.ts',
  'test/product/restore-command.test.ts',
  'test/web/users-and-tokens.test.ts',
  'features/history/history.test.ts',
  'protection/crowdsec/both-ways.test.ts',
  'apps/supervisor/src/supervisor.test.ts',
  'test/product/two-nodes.test.ts',
  'test/product/unprotected.test.ts',
  'protection/crowdsec/traps.test.ts',
  'protection/crowdsec/crowdsec.test.ts',
];

/**
 * What mostly waits first, what mostly computes last, so that no long wait is left for the end; of each kind the longest first.
 * One project after the other: a worker goes on to the next file only if that is of its own project, and begins anew, with a
 * thousand modules to load, if it is not.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId, project }: TestSpecification): number => {
      const among = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return order.indexOf(project.name) * (longest.length + 1) + (among === -1 ? longest.length : among);
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
