import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['chaos', 'black-box', 'server', 'unit'];

/** Files that mostly wait begin first, those that mostly compute fill the processors meanwhile; else as Vitest sorts. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => order.indexOf(a.project.name) - order.indexOf(b.project.name));
  }
}
