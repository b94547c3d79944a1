export * from './certificate.ts';
export * from './error-body.ts';
export * from './health.ts';
export * from './primitives.ts';
export * from './proxy-host.ts';
export * from './remote-server.ts';
export * from './setting.ts';
