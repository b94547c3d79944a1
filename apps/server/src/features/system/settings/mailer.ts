import type { MailTest, SettingKey } from '@sallyport/contract';
import type { Logger } from 'pino';
import type { Mail, MailServer } from '../../../net/mail.ts';

export interface MailerDeps {
  read: (key: SettingKey) => Promise<string>;
  send: (server: MailServer, mail: Mail) => Promise<void>;
  log: Pick<Logger, 'warn'>;
}

/** Sends mail by the server that the settings `smtp.*` name. */
export const createMailer = ({ read, send, log }: MailerDeps) => {
  const server = async (): Promise<MailServer | undefined> => {
    const host = await read('smtp.host');
    if (host === '') return undefined;
    const username = await read('smtp.username');
    const from = (await read('smtp.from')) || username;
    if (!from.includes('@')) return undefined;
    return {
      host,
      port: Number(await read('smtp.port')),
      security: (await read('smtp.security')) as MailServer['security'],
      username,
      password: await read('smtp.password'),
      from,
    };
  };

  return {
    /** Resolves to false when mail is not configured or the server did not take it. */
    async trySend(mail: Mail): Promise<boolean> {
      const target = await server();
      if (!target) return false;
      try {
        await send(target, mail);
        return true;
      } catch (err) {
        log.warn({ err, host: target.host }, 'mail not sent');
        return false;
      }
    },

    /** Sends a test mail; says why it could not. */
    async test(to: string): Promise<MailTest> {
      const target = await server();
      if (!target) return { sent: false, error: 'smtp.host and smtp.from must be set' };
      try {
        await send(target, { to, subject: 'Test from Sallyport', text: 'The mail settings of Sallyport work.' });
        return { sent: true, error: '' };
      } catch (error) {
        return { sent: false, error: (error as Error).message.slice(0, 500) };
      }
    },
  };
};
export type Mailer = ReturnType<typeof createMailer>;
