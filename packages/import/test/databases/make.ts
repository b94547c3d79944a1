import { DatabaseSync } from 'node:sqlite';

/** The bytes of a database that these statements make. */
export const made = (...statements: readonly string[]): Buffer => {
  const database = new DatabaseSync(':memory:');
  for (const statement of statements) database.exec(statement);
  const bytes = Buffer.from(database.serialize());
  database.close();
  return bytes;
};

const times = 'created_on text not null default 0, modified_on text not null default 0';
const owned = `id integer primary key autoincrement, ${times}, owner_user_id integer not null default 1, is_deleted integer not null default 0`;
const served = `domain_names json not null, certificate_id integer not null default 0, ssl_forced integer not null default 0,
  hsts_enabled integer not null default 0, hsts_subdomains integer not null default 0, http2_support integer not null default 0,
  block_exploits integer not null default 0, advanced_config text not null default '', meta json not null default '{}',
  enabled integer not null default 1`;

/** The tables of Nginx Proxy Manager that say something of hosts, as its migrations leave them. */
export const NGINX_PROXY_MANAGER = [
  `create table proxy_host (${owned}, ${served}, forward_host varchar(255) not null, forward_port integer not null,
    forward_scheme varchar(255) not null default 'http', access_list_id integer not null default 0,
    caching_enabled integer not null default 0, allow_websocket_upgrade integer not null default 0, locations json)`,
  `create table redirection_host (${owned}, ${served}, forward_domain_name varchar(255) not null,
    forward_scheme varchar(255) not null default '$scheme', forward_http_code integer not null default 302,
    preserve_path integer not null default 0)`,
  `create table dead_host (${owned}, ${served})`,
  `create table stream (${owned}, incoming_port integer not null, forwarding_host varchar(255) not null,
    forwarding_port integer not null, tcp_forwarding integer not null default 0, udp_forwarding integer not null default 0,
    meta json not null default '{}', enabled integer not null default 1)`,
  `create table access_list (${owned}, name varchar(255) not null, meta json not null default '{}',
    satisfy_any integer not null default 0, pass_auth integer not null default 1)`,
  `create table access_list_client (id integer primary key autoincrement, ${times}, access_list_id integer not null,
    address varchar(255) not null, directive varchar(255) not null, meta json not null default '{}')`,
  `create table access_list_auth (id integer primary key autoincrement, ${times}, access_list_id integer not null,
    username varchar(255) not null, password varchar(255) not null, meta json not null default '{}')`,
  `create table certificate (${owned}, provider varchar(255) not null, nice_name varchar(255) not null default '',
    domain_names json not null, expires_on text not null default 0, meta json not null default '{}')`,
  'create index proxy_host_owner on proxy_host (owner_user_id)',
];

/** The tables of Charon that say something of hosts. */
export const CHARON = [
  `create table proxy_hosts (id integer primary key autoincrement, uuid text not null, name text, domain_names text not null,
    forward_scheme text default 'http', forward_host text not null, forward_port integer not null, ssl_forced numeric default false,
    http2_support numeric default true, hsts_enabled numeric default false, hsts_subdomains numeric default false,
    block_exploits numeric default true, websocket_support numeric default false, enabled numeric default true,
    enable_standard_headers numeric, forward_auth_enabled numeric default false, certificate_id integer, access_list_id integer,
    advanced_config text, created_at datetime, updated_at datetime)`,
  'create unique index idx_proxy_hosts_uuid on proxy_hosts (uuid)',
  `create table locations (id integer primary key autoincrement, uuid text not null, proxy_host_id integer not null,
    path text not null, forward_scheme text default 'http', forward_host text not null, forward_port integer not null)`,
  `create table access_lists (id integer primary key autoincrement, uuid text, name text, description text, type text, ip_rules text,
    country_codes text, local_network_only numeric, enabled numeric)`,
  `create table ssl_certificates (id integer primary key autoincrement, uuid text, name text, provider text, domains text,
    certificate text, private_key text)`,
  `create table remote_servers (id integer primary key autoincrement, uuid text, name text, host text, port integer, scheme text,
    enabled numeric default true)`,
];

/** A statement that inserts a row. */
export const row = (table: string, fields: Readonly<Record<string, string | number | null>>): string => {
  const values = Object.values(fields).map((value) =>
    typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value),
  );
  return `insert into ${table} (${Object.keys(fields).join(', ')}) values (${values.join(', ')})`;
};
