/** How to reach the mail server. */
export interface MailServer {
  host: string;
  port: number;
  security: 'starttls' | 'tls' | 'none';
  /** Empty: no sign-in. */
  username: string;
  password: string;
  from: string;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const SOCKET_TIMEOUT_MS = 10_000;

/** Hands one mail to the mail server. Rejects with the server's or the network's reason. */
export const sendMail = async (server: MailServer, { to, subject, text }: Mail): Promise<void> => {
  const { host, port, security, username, password, from } = server;
  // Only when it is needed: many never send a mail.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    // Without it a man in the middle only has to drop the offer to read the password.
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(username === '' ? {} : { auth: { user: username, pass: password } }),
  });
  try {
    // Addresses as objects: a name or list in the string could add recipients.
    await transport.sendMail({
      from: { name: 'Sallyport', address: from },
      to: { name: '', address: to },
      subject,
      text,
    });
  } finally {
    transport.close();
  }
};
