import { common } from './dialects/common.ts';
import { mysql } from './dialects/mysql.ts';
import { oracle } from './dialects/oracle.ts';
import { postgresql } from './dialects/postgresql.ts';
import { sqlite } from './dialects/sqlite.ts';
import { tsql } from './dialects/tsql.ts';
import type { Grammar } from './expand.ts';
import { type Dialect, functions } from './sql-functions.ts';

const own: Record<Dialect, Grammar> = { mysql, postgresql, tsql, oracle, sqlite };

/** The grammar of each dialect. */
export const sqlGrammar = (dialect: Dialect): Grammar => ({ ...common, ...own[dialect], function: functions[dialect] });
