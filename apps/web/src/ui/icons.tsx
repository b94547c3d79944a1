import alertTriangle from 'icon:alert-triangle';
import api from 'icon:api';
import archive from 'icon:archive';
import arrowBackUp from 'icon:arrow-back-up';
import arrowDown from 'icon:arrow-down';
import arrowUp from 'icon:arrow-up';
import ban from 'icon:ban';
import bell from 'icon:bell';
import book2 from 'icon:book-2';
import certificate from 'icon:certificate';
import certificateOff from 'icon:certificate-off';
import chartDots3 from 'icon:chart-dots-3';
import check from 'icon:check';
import chevronDown from 'icon:chevron-down';
import chevronRight from 'icon:chevron-right';
import circle from 'icon:circle';
import circleCheckFilled from 'icon:circle-check-filled';
import circleDashed from 'icon:circle-dashed';
import clipboardList from 'icon:clipboard-list';
import clock from 'icon:clock';
import columns3 from 'icon:columns-3';
import copy from 'icon:copy';
import deviceDesktop from 'icon:device-desktop';
import dots from 'icon:dots';
import dotsVertical from 'icon:dots-vertical';
import download from 'icon:download';
import externalLink from 'icon:external-link';
import fileImport from 'icon:file-import';
import fileZip from 'icon:file-zip';
import gauge from 'icon:gauge';
import history from 'icon:history';
import infoCircle from 'icon:info-circle';
import key from 'icon:key';
import language from 'icon:language';
import lifebuoy from 'icon:lifebuoy';
import lock from 'icon:lock';
import logout from 'icon:logout';
import moon from 'icon:moon';
import pencil from 'icon:pencil';
import playerPause from 'icon:player-pause';
import playerPlay from 'icon:player-play';
import plugConnected from 'icon:plug-connected';
import plus from 'icon:plus';
import printer from 'icon:printer';
import radar2 from 'icon:radar-2';
import refresh from 'icon:refresh';
import search from 'icon:search';
import send from 'icon:send';
import server2 from 'icon:server-2';
import settings from 'icon:settings';
import shield from 'icon:shield';
import shieldCheck from 'icon:shield-check';
import shieldX from 'icon:shield-x';
import star from 'icon:star';
import sun from 'icon:sun';
import trash from 'icon:trash';
import upload from 'icon:upload';
import user from 'icon:user';
import userCircle from 'icon:user-circle';
import users from 'icon:users';
import wall from 'icon:wall';
import worldWww from 'icon:world-www';
import x from 'icon:x';
import type { ReactElement, ReactNode, SVGProps } from 'react';

/** An icon; `size` in CSS pixels, default 24. Hidden from who hears the page, unless it has a name of its own. */
export type Icon = (props: Omit<SVGProps<SVGSVGElement>, 'children'> & { size?: number }) => ReactNode;

const iconOf =
  (body: ReactElement): Icon =>
  ({ size = 24, ...props }) => (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it is hidden, or named by aria-label
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden={props['aria-label'] === undefined}
      role={props['aria-label'] === undefined ? undefined : 'img'}
      {...props}
    >
      {body}
    </svg>
  );

export const IconAlertTriangle = iconOf(alertTriangle);
export const IconApi = iconOf(api);
export const IconArchive = iconOf(archive);
export const IconArrowBackUp = iconOf(arrowBackUp);
export const IconArrowDown = iconOf(arrowDown);
export const IconArrowUp = iconOf(arrowUp);
export const IconBan = iconOf(ban);
export const IconBell = iconOf(bell);
export const IconBook2 = iconOf(book2);
export const IconCertificate = iconOf(certificate);
export const IconCertificateOff = iconOf(certificateOff);
export const IconChartDots3 = iconOf(chartDots3);
export const IconCheck = iconOf(check);
export const IconChevronDown = iconOf(chevronDown);
export const IconChevronRight = iconOf(chevronRight);
export const IconCircle = iconOf(circle);
export const IconCircleCheckFilled = iconOf(circleCheckFilled);
export const IconCircleDashed = iconOf(circleDashed);
export const IconClipboardList = iconOf(clipboardList);
export const IconClock = iconOf(clock);
export const IconColumns3 = iconOf(columns3);
export const IconCopy = iconOf(copy);
export const IconDeviceDesktop = iconOf(deviceDesktop);
export const IconDots = iconOf(dots);
export const IconDotsVertical = iconOf(dotsVertical);
export const IconDownload = iconOf(download);
export const IconExternalLink = iconOf(externalLink);
export const IconFileImport = iconOf(fileImport);
export const IconFileZip = iconOf(fileZip);
export const IconGauge = iconOf(gauge);
export const IconHistory = iconOf(history);
export const IconInfoCircle = iconOf(infoCircle);
export const IconKey = iconOf(key);
export const IconLanguage = iconOf(language);
export const IconLifebuoy = iconOf(lifebuoy);
export const IconLock = iconOf(lock);
export const IconLogout = iconOf(logout);
export const IconMoon = iconOf(moon);
export const IconPencil = iconOf(pencil);
export const IconPlayerPause = iconOf(playerPause);
export const IconPlayerPlay = iconOf(playerPlay);
export const IconPlugConnected = iconOf(plugConnected);
export const IconPlus = iconOf(plus);
export const IconPrinter = iconOf(printer);
export const IconRadar2 = iconOf(radar2);
export const IconRefresh = iconOf(refresh);
export const IconSearch = iconOf(search);
export const IconSend = iconOf(send);
export const IconServer2 = iconOf(server2);
export const IconSettings = iconOf(settings);
export const IconShield = iconOf(shield);
export const IconShieldCheck = iconOf(shieldCheck);
export const IconShieldX = iconOf(shieldX);
export const IconStar = iconOf(star);
export const IconSun = iconOf(sun);
export const IconTrash = iconOf(trash);
export const IconUpload = iconOf(upload);
export const IconUser = iconOf(user);
export const IconUserCircle = iconOf(userCircle);
export const IconUsers = iconOf(users);
export const IconWall = iconOf(wall);
export const IconWorldWww = iconOf(worldWww);
export const IconX = iconOf(x);
