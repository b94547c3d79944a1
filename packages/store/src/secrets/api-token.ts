/** Every durable API token begins with this: leaked ones can be searched for, and no session token looks like one. */
export const API_TOKEN_PREFIX = 'sp_';
