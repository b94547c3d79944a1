import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['chaos', 'black-box', 'server', 'unit'];

/**
 * Files that take longest, longest first: one that began last would run alone while the other processors have nothing to do. A
 * clone has no memory of earlier runs, and how long a file is says little of how long it takes.
 */
const longest = [
  'test/web/system.test.ts',
  'protection/crowdsec/both-ways.test.ts',
  'test/web/certificates.test.ts',
  'test/product/restore.test.ts',
  'protection/crowdsec/traps.test.ts',
  'test/product/unprotected.test.ts',
  'protection/crowdsec/crowdsec.test.ts',
  'backups/copies/copies.test.ts',
  'test/chaos/chaos.test.ts',
  'test/guard/fail-closed.test.ts',
  'crowdsec/console/console.test.ts',
  'test/web/hosts.test.ts',
  'test/web/access-lists.test.ts',
  'crowdsec/presets/presets.test.ts',
  'test/chaos/power-cut.test.ts',
  'apps/supervisor/src/supervisor.test.ts',
  'test/web/account.test.ts',
  'dns-providers/create-writer.test.ts',
  'apps/cli/src/cli.test.ts',
  'test/guard/unprepared.test.ts',
  'test/guard/slow-clients.test.ts',
  'test/web/users-and-tokens.test.ts',
  'protection/suite/enforcement.test.ts',
  'system/emergency/drill.test.ts',
  'test/product/emergency.test.ts',
];

/** Those first, then files that mostly wait; what mostly computes fills the processors meanwhile. Else as Vitest sorts. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId, project }: TestSpecification): number => {
      const among = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return among === -1 ? longest.length + order.indexOf(project.name) : among;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
