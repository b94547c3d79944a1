import type { OperatorEnv, OperatorInstance } from './operator.ts';

/** @geoLookup: fills GEO from the address in the value; true when the database knows it. */
export const compileGeoLookup = (env: OperatorEnv): OperatorInstance => {
  const { geo } = env;
  if (!geo) return { warning: 'geoLookup needs a country database: without one it never matches', match: () => false };
  return {
    match(buf, start, end, context) {
      const result = geo(Buffer.from(buf.subarray(start, end)).toString('latin1'));
      context.geo(result);
      return result !== null;
    },
  };
};
