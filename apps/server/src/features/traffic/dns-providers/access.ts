/** How records are written: a type of `GET /dns-providers/types`, and what its fields hold. */
export interface DnsProviderAccess {
  type: string;
  fields: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
}

/** A record to be written. */
export interface TextRecord {
  /** Where it lies, after CNAME records. */
  name: string;
  value: string;
}
