import { addAll } from '../add-all.ts';
import { NEEDED } from '../certificates/beside.ts';
import { nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, SourceError } from '../reading.ts';
import { onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import type { Dynamic } from './dynamic.ts';
import { listOf } from './list.ts';
import { type Passed, passedBy, pointsOf } from './middlewares.ts';
import { parseRule, type Rule } from './rule.ts';
import { type Target, targetOf } from './service.ts';
import type { Tree } from './tree.ts';

/** A router with what becomes of its requests. */
interface Router {
  name: string;
  tree: Tree;
  rule: Rule;
  text: string;
  secure: boolean;
  passed: Passed;
  target: Target;
}

const isSecure = (router: Tree, dynamic: Dynamic): boolean => {
  const tls = router.fields.get('tls');
  if (tls) return tls.text?.toLowerCase() !== 'false';
  const points = listOf(router.fields.get('entrypoints'));
  if (points.length > 0 && pointsOf(router, dynamic).some((point) => point.isSecure)) return true;
  return points.length > 0 && points.every((point) => /secure|https|443/i.test(point));
};

/** Whether Traefik gets a router's certificate by itself: what the router says of TLS stands in for what its entry points say. */
const hasResolver = (router: Tree, dynamic: Dynamic): boolean => {
  const tls = router.fields.get('tls');
  return tls ? tls.fields.has('certresolver') : pointsOf(router, dynamic).some((point) => point.hasResolver);
};

const routersOf = (dynamic: Dynamic, errors: SourceError[], warnings: ImportWarning[]): Router[] => {
  const routers: Router[] = [];
  for (const [name, tree] of dynamic.routers) {
    const rule = tree.fields.get('rule');
    if (rule?.text === undefined) {
      warnings.push(warn(tree.at, `the router ${shorten(name)} is not imported: it has no rule`));
      continue;
    }
    const { text, at } = rule;
    try {
      const shared = { name, tree, text, secure: isSecure(tree, dynamic), passed: passedBy(tree, dynamic) };
      routers.push({ ...shared, rule: parseRule(text), target: targetOf(tree, dynamic) });
    } catch (error) {
      errors.push({ ...warn(at, (error as Error).message), text: shorten(text, 200) });
    }
  }
  return routers;
};

const weightOf = ({ tree, text }: Router): number => Number(tree.fields.get('priority')?.text ?? text.length);

const leadsTo = ({ target }: Router): string => ('fields' in target ? JSON.stringify(target.fields) : '');

/** What a rule may ask of what is asked for; who asks is something else. */
const OF_REQUEST = /^(?:not )?(?:Path(?:Prefix|Regexp)?|Method|Query(?:Regexp)?)\(/i;

/** Whether a router takes some visitors' requests elsewhere, not just some paths, or keeps them out. */
const takesAway = ({ rule, passed }: Router): boolean =>
  passed.losses.some(({ keptOut }) => keptOut) || !rule.others.every((other) => OF_REQUEST.test(other));

/** Of the routers without a name, which are for all, those that take requests away: the heaviest, and the next that leads elsewhere. */
const takenFromAll = (routers: readonly Router[]): Router[] => {
  const [first, ...rest] = routers
    .filter((one) => !one.rule.names && !(one.passed.secures && !one.secure) && takesAway(one))
    .toSorted((a, b) => weightOf(b) - weightOf(a));
  const next = first && rest.find((one) => leadsTo(one) !== leadsTo(first));
  return [first, next].filter((one) => one !== undefined);
};

interface Resolved {
  name: string;
  router: Router;
  sslForced: boolean;
  others: Router[];
}

/** Of the routers for one name, the one that its host is made of: for all paths, with TLS, heaviest. */
const resolveName = (name: string, routers: readonly Router[]): Resolved => {
  const rank = (one: Router) => [
    'fields' in one.target ? 0 : 1,
    one.passed.secures && !one.secure ? 1 : 0,
    one.rule.others.length,
    one.secure ? 0 : 1,
    -weightOf(one),
  ];
  const [router, ...rest] = routers.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    const index = left.findIndex((value, at) => value !== right[at]);
    return index === -1 ? 0 : left[index]! - right[index]!;
  }) as [Router, ...Router[]];
  const secures = routers.some((one) => one.passed.secures);
  const plain = rest.find((one) => !one.secure && !one.passed.secures);
  const others = rest.filter((one) => !(one.passed.secures && !one.secure) && !isTwin(one, router));
  return { name, router, sslForced: secures || (router.secure && !plain), others };
};

/** The same without or with TLS. */
const isTwin = (one: Router, other: Router): boolean =>
  one.rule.others.length === other.rule.others.length &&
  leadsTo(one) === leadsTo(other) &&
  !one.passed.losses.some(({ keptOut }) => keptOut);

/** What a router may have; anything else is not known here. */
const KNOWN = new Set([
  ...['entrypoints', 'middlewares', 'observability', 'priority', 'rule', 'rulesyntax', 'service', 'tls'],
]);

const lossesOf = ({ router, others }: Resolved, dynamic: Dynamic, forAll: readonly Router[]): Loss[] => {
  const { tree, rule, secure, passed, target } = router;
  const losses: Loss[] = [];
  for (const [key, { at }] of tree.fields) {
    if (!KNOWN.has(key))
      losses.push(loss(at, `${shorten(key)} is not taken over: it may have kept requests out`, true));
  }
  const asks = pointsOf(tree, dynamic).find(({ hasTlsOptions }) => hasTlsOptions)?.at ?? dynamic.clientAuth;
  if (secure && asks)
    losses.push(loss(asks, 'options of TLS ask clients for a certificate, which is not taken over', true));
  const first = forAll.find((one) => weightOf(one) >= weightOf(router) && leadsTo(one) !== leadsTo(router));
  if (first) {
    const message = `the router ${shorten(first.name)} takes requests for all names before in Traefik; here it does not`;
    losses.push(loss(first.tree.at, message, true));
  }
  if (tree.fields.get('tls')?.fields.has('options')) {
    losses.push(loss(tree.at, 'options of TLS are not taken over: they may ask clients for a certificate', true));
  }
  if (rule.others.length > 0) {
    const which = shorten(rule.others.join(', '));
    losses.push(loss(tree.at, `only requests for ${which} go to this upstream in Traefik, here all do`, true));
  }
  addAll(losses, 'losses' in target ? target.losses : []);
  addAll(losses, passed.losses);
  for (const other of others) {
    const keptOut = takesAway(other);
    const message = `requests for ${shorten(other.text)} have a router of their own in Traefik; a proxy host sends all to one upstream`;
    losses.push(loss(other.tree.at, message, keptOut));
  }
  return losses;
};

/** Makes proxy hosts of routers. What can't be one is in `warnings`, with the reason. */
export const makeHosts = (
  dynamic: Dynamic,
  certificateFor: (names: readonly string[]) => string | undefined,
  { errors, warnings }: { errors: SourceError[]; warnings: ImportWarning[] },
): ImportedHost[] => {
  const byName = new Map<string, Router[]>();
  const all = routersOf(dynamic, errors, warnings);
  const forAll = takenFromAll(all);
  for (const router of all) {
    const { rule, tree, name: routerName } = router;
    if (!rule.names || rule.names.length === 0) {
      const message = `the router ${shorten(routerName)} is not imported: a proxy host needs a name, and its rule has none`;
      warnings.push(warn(tree.at, message));
    }
    for (const name of new Set(rule.names)) {
      const parsed = nameOrWarning(name, tree.at, warnings);
      if (parsed === undefined) continue;
      const others = byName.get(parsed);
      if (others) others.push(router);
      else byName.set(parsed, [router]);
    }
  }
  const resolved = Array.from(byName, ([name, routers]) => resolveName(name, routers));
  const keyOf = ({ router, sslForced, others }: Resolved) =>
    JSON.stringify([router.name, sslForced, others.map(({ name }) => name)]);
  return [...Map.groupBy(resolved, keyOf).values()].flatMap((group) => {
    const [first] = group as [Resolved, ...Resolved[]];
    const { router, sslForced } = first;
    const { target, tree, passed } = router;
    const names = group.map(({ name }) => name);
    if ('impossible' in target) {
      const why = passed.redirect ? onlyRedirects(passed.redirect) : target.impossible;
      warnings.push(warn(tree.at, `${shorten(names.join(', '))} is not imported: ${why}`));
      return [];
    }
    const certificate = router.secure ? certificateFor(names) : undefined;
    const losses = lossesOf(first, dynamic, forAll);
    const isAutomatic = router.secure && certificate === undefined && hasResolver(tree, dynamic);
    if (router.secure && certificate === undefined && !isAutomatic) losses.push(loss(tree.at, NEEDED));
    const shared = {
      ssl_forced: sslForced,
      ...(certificate !== undefined && { certificate }),
      ...(isAutomatic && { auto_certificate: true }),
    };
    return toHosts(
      { place: tree.at, names, fields: { ...target.fields, ...shared, ...passed.fields }, losses },
      warnings,
    );
  });
};
