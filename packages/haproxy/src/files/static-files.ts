import { access } from 'node:fs/promises';
import { challengePattern } from '../config/challenges.ts';
import { renderPageFragments } from '../config/error-pages.ts';
import { renderExploitPatterns } from '../config/exploit-patterns.ts';
import { renderSpoe } from '../config/guard.ts';
import { dataPlaneFiles, inDirectory } from '../config/layout.ts';
import { otherTargetPatterns } from '../config/names.ts';
import { renderConfig } from '../config/render-config.ts';
import type { ConfigSettings } from '../config/settings.ts';
import { writeFileAtomically } from './atomic-file.ts';
import { readInstance } from './instance.ts';
import { createSelfSignedCertificate } from './self-signed-certificate.ts';

/** Maps that HAProxy insists on finding, whoever fills them. Those of the suite, empty, refuse: see config/enforced.ts. */
const maps = [
  dataPlaneFiles.hostsMap,
  dataPlaneFiles.overlayMap,
  dataPlaneFiles.bansMap,
  dataPlaneFiles.whitelistMap,
  dataPlaneFiles.bypassMap,
  dataPlaneFiles.limitsMap,
  dataPlaneFiles.switchesMap,
  dataPlaneFiles.challengesMap,
];

/** Answers TLS clients that name no host, or one without a certificate. Kept when there is one, so that it stays the same. */
const defaultCertificate = async (): Promise<string> => {
  const { certificate, key } = await createSelfSignedCertificate({
    names: ['sallyport.invalid'],
    // Some clock behind ours may ask, too.
    validFrom: new Date(Date.now() - 86_400_000),
    validDays: 3_650,
  });
  return certificate + key;
};

/**
 * Writes everything that depends on the deployment only: haproxy.cfg, pages, patterns, and whatever map (empty),
 * default certificate and certificate list is still missing. Rejects with InvalidSetting.
 */
export const writeStaticFiles = async (directory: string, settings: ConfigSettings): Promise<void> => {
  const write = (file: string, text: string): Promise<void> =>
    writeFileAtomically(inDirectory(directory, file), [text], { durable: true });
  // The configuration last: a HAProxy that starts meanwhile never misses a file that it names.
  const config = renderConfig(settings, await readInstance(directory));
  await write(dataPlaneFiles.trustedProxies, settings.trustedProxies.map((cidr) => `${cidr}\n`).join(''));
  await write(dataPlaneFiles.pageFragments, renderPageFragments());
  await write(dataPlaneFiles.exploitPatterns, renderExploitPatterns());
  await write(dataPlaneFiles.notablePatterns, renderExploitPatterns([challengePattern, '%', ...otherTargetPatterns]));
  const { guard } = settings;
  if (guard) await writeFileAtomically(guard.spoeFile, [renderSpoe(guard)], { durable: true });
  const writeMissing = (file: string, text: () => string | Promise<string>): Promise<void> =>
    access(inDirectory(directory, file)).catch(async () => write(file, await text()));
  for (const map of maps) await writeMissing(map, () => '');
  await writeMissing(dataPlaneFiles.defaultCertificate, defaultCertificate);
  await writeMissing(dataPlaneFiles.crtList, () => `${dataPlaneFiles.defaultCertificate}\n`);
  await write(dataPlaneFiles.config, config);
};
