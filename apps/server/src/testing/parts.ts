// Parts of the server that tests and benches outside of it drive by themselves.
export { createBans } from '../dataplane/protection/bans.ts';
export { reloadHaproxy } from '../dataplane/protection/reload.ts';
export { crowdsecAccount } from '../features/protection/crowdsec/account.ts';
export { proxyHostStore } from '../features/traffic/proxy-hosts/store.ts';
export { startServer } from '../server.ts';
