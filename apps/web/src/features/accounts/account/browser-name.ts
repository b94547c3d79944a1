const BROWSERS: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Edge', /Edg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|Chromium|CriOS|HeadlessChrome)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
];
const SYSTEMS: readonly (readonly [name: string, sign: RegExp])[] = [
  ['iOS', /iPhone|iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux|X11/],
];

/** What a User-Agent says in two words: `Firefox 150, Linux`; what is no known browser is as it says. */
export const browserName = (userAgent: string): string => {
  for (const [name, sign] of BROWSERS) {
    const version = sign.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const [system] = SYSTEMS.find(([, of]) => of.test(userAgent)) ?? [];
    return system === undefined ? `${name} ${version}` : `${name} ${version}, ${system}`;
  }
  return userAgent.slice(0, 80);
};
