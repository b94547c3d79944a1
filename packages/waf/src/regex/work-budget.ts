/**
 * What matching may still cost, in units of about one byte stepped. Once it is spent `exceeded` is set and every
 * answer is "no match": the caller decides what that means.
 */
export type WorkBudget = { units: number; exceeded: boolean };

export const createBudget = (units: number): WorkBudget => ({ units, exceeded: false });

/** Takes units away; false, and exceeded, when there were not enough. */
export const spend = (budget: WorkBudget, units: number): boolean => {
  budget.units -= units;
  if (budget.units >= 0) return true;
  budget.units = 0;
  budget.exceeded = true;
  return false;
};
