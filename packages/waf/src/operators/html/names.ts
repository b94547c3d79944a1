/** Elements that run script, fetch it, or change what the rest of the page means. */
const elements =
  'applet base comment embed frame frameset handler iframe import isindex link listener meta noscript object script style vmlframe xml xss';

/** Attributes whose value is a URL that is followed, by a click or at once; in SVG the values that an animation gives them. */
const urls = 'action by background dynsrc formaction folder from handler href lowsrc poster src to values';

/** Events whose handlers are attributes, without `on`, in HTML, SVG and what browsers add: media, devices, speech, connections. */
const events = `
  abort activate active addsourcebuffer addstream addtrack afterprint afterscriptexecute afterupdate animationcancel animationend
  animationiteration animationstart audioend audioprocess audiostart autocomplete autocompleteerror auxclick beforeactivate beforecopy
  beforecut beforedeactivate beforeeditfocus beforeinput beforeinstallprompt beforeload beforematch beforepaste beforeprint
  beforescriptexecute beforetoggle beforeunload beforeupdate begin blocked blur boundary bounce bufferedamountlow cached cancel canplay
  cellchange change chargingchange checking click close command compassneedscalibration complete composition connect contextlost contextmenu
  contextrestored controllerchange controlselect copy cuechange cut data dblclick deactivate devicechange devicelight devicemotion
  deviceorientation deviceproximity dischargingtimechange display distribute downloading drag drop durationchange emptied encrypted end
  enter error errorupdate exit filterchange finish focus formchange formdata forminput fullscreen gamepad gesture gotpointercapture hashchange
  help hide icecandidate iceconnectionstatechange icegatheringstatechange identityresult input inputsourceschange install invalid key languagechange
  layoutcomplete levelchange load losecapture lostpointercapture mark media message messageerror mouse mousewheel move mute negotiationneeded nextdata
  nodechange nomatch noupdate obsolete offline online open orientationchange outofsync overconstrained overflowchanged page paint paste
  pause pay play pointer popstate process progress propertychange propertychange push rate readystatechange redo reject remov repeat
  request reset resize result resume reverse rejectionhandled row scroll search securitypolicyviolation seek seeked seeking select
  selectionchange selectstart shipping show signalingstatechange slotchange soundend soundstart sourceclose sourceended sourceopen
  speechend speechstart squeeze stalled start statechange statuschange stop storage submit success suspend syncrestored texttrack
  textinput timeerror timeout timeupdate toggle tonechange touch trackchange transition typechange unhandledrejection undo uncapturederror
  unload unmute update upgrade url versionchange visibilitychange volumechange vrdisplay waiting warning webgl webkit wheel write zoom
`;

const list = (text: string): string[] => text.trim().split(/\s+/);

/** What an attribute may do: nothing of interest, run script whatever its value, follow its value, name another attribute, call what its value calls. */
export type AttributeUse = 'none' | 'script' | 'url' | 'name' | 'call';

const uses = new Map<string, AttributeUse>([
  ...list(urls).map((name) => [name, 'url'] as const),
  ...['dataformatas', 'datasrc', 'style', 'srcdoc'].map((name) => [name, 'script'] as const),
  ['attributename', 'name'],
  // Old Internet Explorers load what stands in parentheses; a parameter of this name is as common as a sort order.
  ['filter', 'call'],
]);
const dangerous = new Set(list(elements));
const eventsByStart = new Map<string, string[]>();
for (const event of list(events)) {
  const start = event.slice(0, 2);
  const same = eventsByStart.get(start);
  if (same === undefined) eventsByStart.set(start, [event]);
  else same.push(event);
}

/** Longer names are none of these. */
const longestName = 64;

/** The name in small letters; NUL in it is nothing to some browsers. */
const nameOf = (buf: Uint8Array, start: number, end: number): string => {
  let name = '';
  for (let at = start; at < end && name.length < longestName; at++) {
    const byte = buf[at]!;
    if (byte !== 0) name += String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte);
  }
  return name;
};

/** Whether an element of this name is script, or as good as script. */
export const isDangerousElement = (buf: Uint8Array, start: number, end: number): boolean => {
  if (end - start < 3) return false;
  const name = nameOf(buf, start, end);
  return dangerous.has(name) || name.startsWith('svg') || name.startsWith('xsl');
};

/** What an attribute of this name may do. Events are known by their beginning, for browsers add to their families (mouse…, touch…). */
export const useOfAttribute = (buf: Uint8Array, start: number, end: number): AttributeUse => {
  if (end - start < 2) return 'none';
  const name = nameOf(buf, start, end);
  if (name.startsWith('xmlns') || name.startsWith('xlink')) return 'script';
  if (name.startsWith('on') && name.length >= 5) {
    const known = eventsByStart.get(name.slice(2, 4));
    if (known?.some((event) => name.startsWith(event, 2)) === true) return 'script';
  }
  return uses.get(name) ?? 'none';
};
