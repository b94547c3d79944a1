import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';

/** The certificate that a port of 127.0.0.1 presents for a name, whoever signed it. */
export const servedCertificate = (port: number, servername: string): Promise<X509Certificate> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
    socket.once('error', reject).once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate) resolve(certificate);
      else reject(new Error(`nothing is presented for ${servername}`));
    });
  });
