import { challengeBackend, challengeSection, challenges } from './challenges.ts';
import { clientAddress, proxyHeaders } from './client-address.ts';
import { defaultsSection } from './defaults-section.ts';
import { connections, handedOver, handOver, onceListeners, onceSection, ownConnection } from './exactly-once.ts';
import {
  destination,
  forwardedHeaders,
  noForwardedHeaders,
  originBackends,
  originOptions,
  originSections,
  responseHeaders,
} from './forwarding.ts';
import { globalSection, rings, traffic } from './global-section.ts';
import { askedFor, guardSections, judged, judgedAcls, judgedBackends, judging, ordinaryJudged } from './guard.ts';
import { listeners } from './listeners.ts';
import { leaveMark, refuseLoops } from './loops.ts';
import { headerNames, names, readableTargets, targets } from './names.ts';
import {
  emergencyRequests,
  ordinaryAcls,
  ordinaryBackend,
  ordinaryJudgedRequests,
  ordinaryRequests,
  plainRequests,
} from './plain-requests.ts';
import { rateTable } from './rate-table.ts';
import { decisions, exploits, forceTls, rateLimits, representation, suspicions, upgrades } from './refusals.ts';
import { relaySections } from './relay.ts';
import { passedBefore } from './remembered-passes.ts';
import { refuseUnknown, routing, routingAgain, routingOfOthers } from './routing.ts';
import { type ConfigSettings, checkSettings } from './settings.ts';
import { mostRequests, untouchedBackend, untouchedRequests, untouchedSection } from './untouched-requests.ts';

const heading = `\
# Sallyport's data plane. Written from the deployment's settings only: nothing in here depends on a proxy host.
# Hosts, bans and certificates are in the files next to this one, and change at run time without a reload.
`;

/** Renders haproxy.cfg (HAProxy 2.6 and later); `instance` is a word that names the deployment. Throws InvalidSetting. */
export const renderConfig = (settings: ConfigSettings, instance: string): string => {
  checkSettings(settings);
  return [
    heading,
    globalSection(settings),
    rings(settings),
    defaultsSection(),
    rateTable(settings),
    'frontend proxy\n',
    listeners(settings),
    onceListeners(settings),
    '\n',
    headerNames(),
    proxyHeaders(settings),
    connections(),
    handOver(),
    traffic(settings),
    clientAddress(settings),
    representation(),
    routing(),
    readableTargets(),
    suspicions(),
    ordinaryAcls(settings),
    mostRequests(settings),
    routingOfOthers(),
    judgedAcls(settings),
    askedFor(settings),
    untouchedRequests(settings),
    names(),
    routingAgain(),
    askedFor(settings, 'odd_name '),
    ownConnection(forwardedHeaders(settings)),
    leaveMark(instance),
    destination(),
    ordinaryRequests(settings),
    judged(settings),
    passedBefore(settings),
    challenges(),
    targets(),
    emergencyRequests(),
    ordinaryJudgedRequests(settings),
    ordinaryJudged(settings),
    refuseUnknown(),
    refuseLoops(instance),
    decisions(),
    rateLimits(settings),
    exploits(),
    originOptions(),
    plainRequests(settings),
    upgrades(settings),
    forceTls(settings),
    noForwardedHeaders(),
    judging(settings),
    untouchedBackend(settings),
    ordinaryBackend(),
    challengeBackend(),
    handedOver(),
    judgedBackends(settings),
    originBackends(),
    responseHeaders(),
    '\n',
    onceSection(settings),
    challengeSection(),
    originSections(settings),
    untouchedSection(settings, instance),
    guardSections(settings),
    relaySections(settings),
  ].join('');
};
