import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { fieldsOf, ifThere, type Reverter, type Touched } from './reverter.ts';

/** What names an object. One that comes back has all of it again, so that whoever refers to it finds it. */
export const IDENTITY = ['id', 'uuid', 'created_at'] as const;

/** What an object is named by, as far as it was kept. */
export type KnownIdentity = Partial<Record<'uuid' | 'created_at', string> & { id: number }>;

/** How a service changes its objects in a transaction of the caller. */
interface Within<Input, Patch> {
  create(tx: Executor, input: Input, actor: Actor, known: KnownIdentity): Promise<{ id: number }>;
  update(tx: Executor, key: string, patch: Patch, actor: Actor): Promise<{ id: number }>;
  remove(tx: Executor, key: string, actor: Actor): Promise<{ id: number }>;
}

export interface ObjectReverterDeps<Input, Patch> extends Pick<Reverter, 'policy' | 'prepare' | 'many'> {
  /** What of an object can be given and changed. */
  fields: readonly string[];
  objects: {
    within: Within<Input, Patch>;
    /** Throws a 404. */
    get(key: string): Promise<object>;
  };
  store: (executor: Executor) => { find(key: string): Promise<object | undefined> };
  /** See `Reverter`. */
  settle: (ids: readonly number[]) => Promise<void>;
}

/** Takes changes back of objects that come, change and go, and are named by their uuid. */
export const objectReverter = <Input, Patch>(deps: ObjectReverterDeps<Input, Patch>): Reverter => {
  const { policy, prepare, many, fields, objects, store, settle } = deps;
  const { within } = objects;
  return {
    policy,
    ...(prepare && { prepare }),
    ...(many && { many }),
    current: (tx, key) => store(tx).find(key),
    async apply(tx, undoing, actor): Promise<Touched> {
      const { key } = undoing;
      switch (undoing.does) {
        case 'update': {
          const { id } = await within.update(tx, key, fieldsOf<Patch>(undoing.fields, fields), actor);
          return { key, id };
        }
        case 'remove': {
          const { id } = await within.remove(tx, key, actor);
          return { key, id };
        }
        case 'restore': {
          const known = fieldsOf<KnownIdentity>(undoing.state, IDENTITY);
          const { id } = await within.create(tx, fieldsOf<Input>(undoing.state, fields), actor, known);
          return { key, id };
        }
        default:
          return undoing satisfies never;
      }
    },
    settle: (touched) => settle(touched.map(({ id }) => id)),
    show: (key) => ifThere(objects.get(key)),
  };
};
