export { ariCertificateId } from './certificate/ari-id.ts';
export type { Ordered } from './certificate/chain.ts';
export { makeCsr } from './certificate/csr.ts';
export { type KeyType, keyTypes, makeCertificateKey } from './certificate/key.ts';
export { loadX509, x509KeysOf } from './certificate/x509.ts';
export { authorizationFailure } from './client/authorization-failure.ts';
export {
  type AcmeClient,
  type AcmeClientOptions,
  createAcmeClient,
  type NewOrder,
  type Registration,
  type Revocation,
} from './client/client.ts';
export type { Pause } from './client/poll.ts';
export { AcmeEnded, AcmeProblem, AcmeProtocolError, AcmeUnreachable } from './model/errors.ts';
export { limits } from './model/limits.ts';
export type {
  AcmeDirectory,
  Authorization,
  AuthorizationStatus,
  Challenge,
  ChallengeStatus,
  Order,
  OrderStatus,
  Problem,
  RenewalInfo,
  Subproblem,
} from './model/objects.ts';
export type { AcmeRequest, AcmeResponse, AcmeTransport } from './model/transport.ts';
export { certificateNameProblem, isAddress, normaliseName } from './names/certificate-name.ts';
export { checkOrderNames, type OrderNameProblem } from './names/order-names.ts';
export { sameNames } from './names/same-names.ts';
export { hmacKeyProblem } from './wire/account-key.ts';
