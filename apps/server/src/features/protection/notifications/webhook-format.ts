import type { LogLevel, NotificationEvent, NotificationSettings, WEBHOOK_FORMATS } from '@sallyport/contract';
import { renderTemplate, titleOf } from './template.ts';

type Format = (typeof WEBHOOK_FORMATS)[number];

/** Colours of the severities, as RGB; the same in every chat. */
const COLOURS: Readonly<Record<LogLevel, number>> = {
  debug: 0x95a5a6,
  info: 0x3498db,
  warn: 0xf39c12,
  error: 0xe74c3c,
};

/** Gotify shows no colours; its clients tell priorities apart instead (0 quiet … 10 loud). */
const PRIORITIES: Readonly<Record<LogLevel, number>> = { debug: 0, info: 2, warn: 5, error: 8 };

const isBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

/** Which format `auto` means for a URL. */
export const formatOf = ({ webhook_format, webhook_url }: NotificationSettings): Exclude<Format, 'auto'> => {
  if (webhook_format !== 'auto') return webhook_format;
  const host = URL.canParse(webhook_url) ? new URL(webhook_url).hostname : '';
  if (isBelow(host, 'discord.com') || isBelow(host, 'discordapp.com')) return 'discord';
  if (isBelow(host, 'hooks.slack.com')) return 'slack';
  return 'generic';
};

/** Chats shorten long texts or refuse the whole message. */
const short = (value: unknown, length: number): string => String(value).slice(0, length);

const factsOf = ({ details }: NotificationEvent): [string, unknown][] =>
  Object.entries(details).filter(([, value]) => value !== '' && value !== null && value !== undefined);

/** In Slack's text these three characters start links, mentions and entities; an attacker chooses parts of the text. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Discord reads Markdown and mentions; a zero-width space after @ and a backslash before the rest keep it text. */
const discordText = (text: string): string =>
  text.replaceAll(/([\\*_~`|>[\]()#-])/g, '\\$1').replaceAll('@', '@\u200b');

const discord = (event: NotificationEvent) => ({
  embeds: [
    {
      title: short(titleOf(event), 256),
      description: short(discordText(event.message), 2_048),
      color: COLOURS[event.severity],
      timestamp: event.timestamp,
      fields: factsOf(event)
        .slice(0, 25)
        .map(([name, value]) => ({
          name: short(name, 256),
          value: short(discordText(String(value)), 1_024),
          inline: true,
        })),
    },
  ],
  allowed_mentions: { parse: [] },
});

const slack = (event: NotificationEvent) => ({
  attachments: [
    {
      color: `#${COLOURS[event.severity].toString(16).padStart(6, '0')}`,
      title: slackText(titleOf(event)),
      text: short(slackText(event.message), 3_000),
      fallback: short(slackText(event.message), 1_000),
      fields: factsOf(event).map(([title, value]) => ({
        title,
        value: short(slackText(String(value)), 1_000),
        short: true,
      })),
      ts: Math.floor(Date.parse(event.timestamp) / 1_000),
    },
  ],
});

const gotify = (event: NotificationEvent) => ({
  title: titleOf(event),
  message: [event.message, ...factsOf(event).map(([name, value]) => `${name}: ${short(value, 1_000)}`)].join('\n'),
  priority: PRIORITIES[event.severity],
  extras: { 'client::display': { contentType: 'text/plain' } },
});

/** The body of a delivery as JSON text. */
export const webhookBody = (settings: NotificationSettings, event: NotificationEvent): string => {
  const format = formatOf(settings);
  switch (format) {
    case 'generic':
      return JSON.stringify(event);
    case 'discord':
      return JSON.stringify(discord(event));
    case 'slack':
      return JSON.stringify(slack(event));
    case 'gotify':
      return JSON.stringify(gotify(event));
    case 'template':
      return renderTemplate(settings.webhook_template, event);
    default:
      return format satisfies never;
  }
};
