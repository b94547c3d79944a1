import type { DnsProviderType } from '@sallyport/contract';
import type { LegoType } from './lego/fields.ts';
import type { LegoTypes } from './lego/types.ts';
import { OWN_TYPES } from './own-types.ts';

/** A type with who writes it: lego, when there is what lego knows of it. */
export interface KnownType extends DnsProviderType {
  lego?: LegoType;
}

const own: readonly DnsProviderType[] = OWN_TYPES;
const PREFIX = 'lego-';

const isOwn = (type: string): boolean => own.some((one) => one.type === type);

const asType = (lego: LegoType): KnownType => ({
  type: isOwn(lego.code) ? `${PREFIX}${lego.code}` : lego.code,
  name: isOwn(lego.code) ? `${lego.name} (by lego)` : lego.name,
  fields: lego.fields,
  lego,
});

/** All types of providers: our own, and what the installed lego knows. */
export const createProviderTypes = (lego: LegoTypes) => ({
  /** Undefined for a type that there is none of. Rejects when lego is needed to tell, and is not there. */
  async find(type: string): Promise<KnownType | undefined> {
    const ours = own.find((one) => one.type === type);
    if (ours) return ours;
    const isRenamed = type.startsWith(PREFIX) && isOwn(type.slice(PREFIX.length));
    const found = await lego.find(isRenamed ? type.slice(PREFIX.length) : type);
    return found && asType(found);
  },

  /** Our own alone where there is no lego. */
  async all(): Promise<KnownType[]> {
    const others = await lego.all().catch((): LegoType[] => []);
    return [...own, ...others.map(asType)];
  },
});
export type ProviderTypes = ReturnType<typeof createProviderTypes>;
