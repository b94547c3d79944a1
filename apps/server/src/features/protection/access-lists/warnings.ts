import type { AccessListFields, Warning } from '@sallyport/contract';

/** What a list counts on. */
export interface ListSurroundings {
  switches: { guard: boolean; acl: boolean };
  /** Whether it guards a proxy host. */
  isUsed: boolean;
  /** Whether there is a database that knows the countries of addresses. */
  hasCountries: boolean;
}

const notEnforced = ({ switches, isUsed }: ListSurroundings): string | undefined => {
  if (!isUsed) return 'guards nothing: no proxy host has it as access_list_id';
  if (!switches.guard) return 'is not enforced: the security suite is switched off';
  return switches.acl ? undefined : 'is not enforced: access lists are switched off (security.acl.enabled)';
};

/** What a stored access list will not do although its fields say so, in words (contract.md, Conventions of all resources). */
export const warningsOf = (list: AccessListFields, around: ListSurroundings): Warning[] => {
  const warnings: Warning[] = [];
  const reason = notEnforced(around);
  // One that is off is meant to do nothing.
  if (list.enabled && reason !== undefined) warnings.push({ field: 'enabled', message: reason });
  if (list.countries.length > 0 && !around.hasCountries) {
    const message = 'no country database is installed: whoever is not admitted by a rule is refused';
    warnings.push({ field: 'countries', message });
  }
  return warnings;
};
