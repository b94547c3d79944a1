import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and text as they came, dots unstuffed. */
  data: string;
}

/** A real mail server on loopback (RFC 5321), without TLS: it takes everything except for what `refuses` names. */
export const startSmtpServer = async (refuses: (recipient: string) => boolean = () => false) => {
  const mails: ReceivedMail[] = [];
  const serve = (socket: Socket) => {
    const say = (line: string) => socket.write(`${line}\r\n`);
    let mail: ReceivedMail = { from: '', to: [], data: '' };
    let isData = false;
    let rest = '';
    const onLine = (line: string) => {
      if (isData) {
        if (line !== '.') {
          mail.data += `${line.replace(/^\./, '')}\n`;
          return;
        }
        isData = false;
        mails.push(mail);
        mail = { from: '', to: [], data: '' };
        say('250 taken');
        return;
      }
      const [, verb = '', address = ''] = /^(\w+)(?:[^<]*<([^>]*)>)?/.exec(line) ?? [];
      switch (verb.toUpperCase()) {
        case 'EHLO':
          return say('250 localhost');
        case 'MAIL':
          mail.from = address;
          return say('250 ok');
        case 'RCPT':
          if (refuses(address)) return say('550 no such mailbox');
          mail.to.push(address);
          return say('250 ok');
        case 'DATA':
          isData = true;
          return say('354 go on');
        case 'QUIT':
          say('221 bye');
          return socket.end();
        default:
          return say('250 ok');
      }
    };
    socket.on('data', (chunk) => {
      const lines = (rest + String(chunk)).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    });
    socket.on('error', () => socket.destroy());
    say('220 localhost');
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
