import { KIND } from './token.ts';

/**
 * The words of SQL by what they do in a statement, from the manuals of MySQL, PostgreSQL, SQL Server, Oracle, Db2 and SQLite. Words that
 * prose uses as well are left out where no attack needs them.
 */
const words: readonly (readonly [number, string])[] = [
  [
    KIND.function,
    // Conditions and conversions.
    'COALESCE DECODE ELT GREATEST IF IFNULL IIF INTERVAL ISNULL ISNUMERIC LEAST NULLIF NVL NVL2 CAST CONVERT TRY_CAST TRY_CONVERT PARSE ' +
      // Text.
      'ASCII BIN BIT_LENGTH CHAR CHARINDEX CHAR_LENGTH CHARACTER_LENGTH CHR CONCAT CONCAT_WS DIFFERENCE EXPORT_SET FIELD FIND_IN_SET FORMAT GLOB ' +
      'HEX INITCAP INSTR LCASE LEFT LEN LENGTH LENGTHB LOCATE LOWER LPAD LTRIM MAKE_SET MID NCHAR OCT OCTET_LENGTH ORD OVERLAY PATINDEX ' +
      'POSITION QUOTE QUOTENAME QUOTE_IDENT QUOTE_LITERAL REGEXP_MATCHES REGEXP_REPLACE REGEXP_SUBSTR REGEXP_INSTR REGEXP_LIKE ' +
      'REPEAT REPLICATE REVERSE RPAD RTRIM SOUNDEX SPACE SPLIT_PART STR STRCMP STRPOS STUFF SUBSTR SUBSTRB SUBSTRING ' +
      'SUBSTRING_INDEX TO_BASE64 FROM_BASE64 TO_CHAR TO_HEX TRANSLATE TRIM UCASE UNHEX UNICODE UPPER WEIGHT_STRING XMLTYPE ' +
      // Numbers.
      'ABS ACOS ASIN ATAN ATAN2 ATN2 CBRT CEIL CEILING CONV COS COT CRC32 DEGREES EXP FLOOR LN LOG LOG10 LOG2 PI POW POWER RADIANS RAND ' +
      'RANDOM RANDOMBLOB ROUND SETSEED SIGN SIN SQRT SQUARE TAN TO_NUMBER TRUNC TRUNCATE ZEROBLOB ' +
      // Aggregates and windows.
      'ARRAY_AGG AVG BIT_AND BIT_OR BIT_XOR BOOL_AND BOOL_OR COUNT DENSE_RANK GROUP_CONCAT LISTAGG MAX MIN NTILE RANK ROW_NUMBER STDDEV ' +
      'STDDEV_POP STDDEV_SAMP STD STRING_AGG SUM TOTAL VAR_POP VAR_SAMP VARIANCE WM_CONCAT XMLAGG ' +
      // Dates.
      'ADDDATE ADDTIME CONVERT_TZ CURDATE CURTIME DATE_ADD DATE_FORMAT DATE_PART DATE_SUB DATE_TRUNC DATEADD DATEDIFF DATENAME DATEPART ' +
      'DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR EXTRACT FROM_DAYS FROM_UNIXTIME GETDATE GETUTCDATE JULIANDAY LAST_DAY MAKEDATE MAKETIME ' +
      'MONTHNAME NOW PERIOD_ADD PERIOD_DIFF QUARTER SEC_TO_TIME STR_TO_DATE STRFTIME SUBDATE SUBTIME SYSDATE SYSDATETIME TIMEDIFF ' +
      'TIMESTAMPADD TIMESTAMPDIFF TIME_FORMAT TIME_TO_SEC TO_DATE TO_DAYS TO_TIMESTAMP UNIX_TIMESTAMP UTC_DATE UTC_TIME UTC_TIMESTAMP ' +
      'WEEKDAY WEEKOFYEAR YEARWEEK ' +
      // What servers tell about themselves.
      'APP_NAME BENCHMARK CHARSET COERCIBILITY COLLATION COL_LENGTH COL_NAME CONNECTION_ID CURRENT_DATABASE CURRENT_SCHEMA ' +
      'CURRENT_SCHEMAS CURRENT_SETTING DATABASE_PRINCIPAL_ID DB_ID DB_NAME FILE_NAME FOUND_ROWS GET_LOCK HAS_DBACCESS HAS_TABLE_PRIVILEGE HOST_ID ' +
      'HOST_NAME INDEX_COL INET_ATON INET_NTOA INET_SERVER_ADDR INET_SERVER_PORT IS_FREE_LOCK IS_MEMBER IS_SRVROLEMEMBER IS_USED_LOCK ' +
      'LAST_INSERT_ID LAST_INSERT_ROWID LASTVAL NAME_CONST NEXTVAL OBJECT_ID OBJECT_NAME OBJECTPROPERTY ORIGINAL_LOGIN PERMISSIONS ' +
      'PG_BACKEND_PID PG_CLIENT_ENCODING PG_USER RELEASE_LOCK ROW_COUNT SCHEMA_ID SCOPE_IDENTITY SERVERPROPERTY SESSION_USER ' +
      'SESSIONPROPERTY SET_CONFIG SQLITE_VERSION SUSER_ID SUSER_NAME SUSER_SID SUSER_SNAME SYS_CONTEXT SYSTEM_USER TYPE_ID TYPE_NAME UID ' +
      'USERENV UUID UUID_SHORT VERSION XACT_STATE ' +
      // What attacks do with them: wait, read, write, run, raise telling errors.
      'DBMS_LOCK.SLEEP DBMS_PIPE.RECEIVE_MESSAGE DBMS_UTILITY.SQLID_TO_SQLHASH CTXSYS.DRITHSX.SN ORDSYS.ORD_DICOM.GETMAPPINGXPATH ' +
      'UTL_HTTP.REQUEST UTL_INADDR.GET_HOST_ADDRESS UTL_INADDR.GET_HOST_NAME XMLDB_SCHEMAVALIDATE ' +
      'EXTRACTVALUE LOAD_EXTENSION LOAD_FILE LO_EXPORT LO_IMPORT MASTER_POS_WAIT OPENDATASOURCE OPENQUERY OPENROWSET OPENXML PG_LS_DIR ' +
      'PG_READ_FILE PG_READ_BINARY_FILE PG_SLEEP PG_STAT_FILE QUERY_TO_XML DATABASE_TO_XML TABLE_TO_XML SLEEP UPDATEXML XMLELEMENT XMLFOREST ' +
      'XP_CMDSHELL XP_DIRTREE XP_REGREAD XP_FILEEXIST GENERATE_SERIES ROW_TO_JSON JSON_EXTRACT JSON_KEYS JSON_VALUE JSON_OBJECT JSON_ARRAY ' +
      'GTID_SUBSET GTID_SUBTRACT ST_LATFROMGEOHASH ST_LONGFROMGEOHASH ST_POINTFROMGEOHASH GEOMETRYCOLLECTION LINESTRING MULTILINESTRING ' +
      'MULTIPOINT MULTIPOLYGON POLYGON POINTFROMTEXT ANALYSE ' +
      // Digests and ciphers.
      'AES_DECRYPT AES_ENCRYPT CHECKSUM CHECKSUM_AGG COMPRESS DES_DECRYPT DES_ENCRYPT ENCODE ENCRYPT HASHBYTES MD5 NEWID OLD_PASSWORD PWDCOMPARE ' +
      'PWDENCRYPT RANDOM_BYTES SHA SHA1 SHA2 STATEMENT_DIGEST UNCOMPRESS UNCOMPRESSED_LENGTH ' +
      'ANY SOME BINARY_CHECKSUM CEIL DAY MONTH YEAR HOUR MINUTE SECOND MICROSECOND WEEK DATE TIMESTAMP ROW VAR EXISTS BIN_TO_NUM',
  ],
  [
    KIND.keyword,
    'AGAINST ALTER ANALYZE AS ASC BEFORE BLOB BOTH CASCADE CHANGE COLUMN CONSTRAINT CURSOR DATABASES DEFAULT DELAY DELAYED DESC DESCRIBE ' +
      'DISTINCT DISTINCTROW DUMPFILE EACH ELSE ELSEIF ENCLOSED END ESCAPE ESCAPED EXPLAIN FETCH FOREIGN FROM FULLTEXT FUNCTION GRANT ' +
      'HIGH_PRIORITY IGNORE IN INDEX INFILE INNER INTO JOIN KEY KEYS KILL LEADING LIKELIHOOD LINES LOAD LOW_PRIORITY MATCH MERGE NOCHECK ' +
      'OFF OFFSET ON OPTION OUTFILE PRIMARY PROCEDURE READ RECONFIGURE REFERENCES RENAME REPLACE RETURNING SCHEMA SQL TIME DATETIME LOOP REVOKE ROLLBACK SQL_CALC_FOUND_ROWS ' +
      'SQL_SMALL_RESULT SQL_BIG_RESULT STARTING STRAIGHT_JOIN TABLES TABLESAMPLE TERMINATED THEN TOP TRIGGER USING VALUES VIEW WHEN WHERE OVER ' +
      'FORCE ROWNUM COMMIT',
  ],
  [KIND.statement, 'CASE CREATE INSERT RAISERROR SELECT SET UPDATE'],
  [KIND.command, 'BEGIN CALL DECLARE DELETE DROP EXEC EXECUTE GO GOTO HANDLER PRINT SHUTDOWN USE WHILE'],
  [KIND.union, 'UNION EXCEPT INTERSECT'],
  [KIND.group, 'HAVING LIMIT'],
  [KIND.logic, 'AND OR XOR'],
  [KIND.operator, 'BETWEEN DIV IS LIKE ILIKE MOD NOT REGEXP RLIKE SOUNDS'],
  [KIND.collate, 'COLLATE'],
  [KIND.number, 'TRUE FALSE BINARY_DOUBLE_INFINITY BINARY_DOUBLE_NAN BINARY_FLOAT_INFINITY BINARY_FLOAT_NAN'],
  [
    KIND.variable,
    'NULL UNKNOWN CURRENT_DATE CURRENT_PATH CURRENT_SERVER CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TIMEZONE CURRENT_USER LOCALTIME ' +
      'LOCALTIMESTAMP',
  ],
  [
    KIND.type,
    'ANYARRAY ANYELEMENT BIGINT BIGSERIAL BINARY BOOLEAN BYTEA CHARACTER CSTRING DECIMAL DOUBLE FLOAT FLOAT4 FLOAT8 INT INT1 INT2 INT3 ' +
      'INT4 INT8 INTEGER MEDIUMINT MONEY NUMERIC NVARCHAR OID REAL REGCLASS REGPROC REGTYPE SIGNED SMALLINT SMALLMONEY SQL_VARIANT ' +
      'TINYINT UNSIGNED VARBINARY VARCHAR VARCHAR2 VARYING TEXT _LATIN1 _UTF8 _UTF8MB4 _BINARY _ASCII _UCS2',
  ],
  // Words that mean something only in a phrase.
  [
    KIND.name,
    'BY GROUP ORDER OUTER CROSS NATURAL LOCK MODE DO FOR USER DATABASE PASSWORD USER_ID USER_NAME TABLE WITH WAITFOR SHOW DUAL OUT RIGHT SHARE ' +
      'ZONE AT PARTITION SIMILAR TO PRECISION REPLACING LANGUAGE QUERY EXPANSION RECEIVE LOGIN DATA ALL',
  ],
];

const phrases: readonly (readonly [number, string])[] = [
  [KIND.union, 'UNION ALL|UNION DISTINCT|UNION ALL DISTINCT|UNION DISTINCT ALL|INTERSECT ALL|EXCEPT ALL'],
  [KIND.group, 'GROUP BY|ORDER BY|PARTITION BY'],
  [
    KIND.statement,
    'SELECT ALL|SELECT DISTINCT|INSERT DELAYED|INSERT HIGH_PRIORITY|INSERT IGNORE|INSERT LOW_PRIORITY|EXECUTE AS|EXECUTE AS LOGIN|' +
      'WAITFOR DELAY|WAITFOR RECEIVE|WAITFOR TIME',
  ],
  [
    KIND.command,
    'INSERT INTO|INSERT DELAYED INTO|INSERT HIGH_PRIORITY INTO|INSERT IGNORE INTO|INSERT LOW_PRIORITY INTO|CREATE OR REPLACE|' +
      'BEGIN DECLARE|BEGIN GOTO|LOAD DATA|LOAD XML',
  ],
  [
    KIND.operator,
    'IS NOT|NOT BETWEEN|NOT LIKE|NOT ILIKE|NOT REGEXP|NOT RLIKE|NOT SIMILAR|NOT SIMILAR TO|SIMILAR TO|SOUNDS LIKE|IS DISTINCT FROM|' +
      'IS NOT DISTINCT FROM',
  ],
  [KIND.name, 'IF NOT|CREATE OR|IS DISTINCT|IS NOT DISTINCT|IN BOOLEAN|LOCK IN|LOCK IN SHARE|AT TIME'],
  [
    KIND.keyword,
    'NOT IN|IN BOOLEAN MODE|LOCK IN SHARE MODE|AT TIME ZONE|INNER JOIN|LEFT JOIN|LEFT OUTER|LEFT OUTER JOIN|RIGHT JOIN|RIGHT OUTER|' +
      'RIGHT OUTER JOIN|CROSS JOIN|NATURAL JOIN|NATURAL INNER|NATURAL OUTER|FOR UPDATE|INTO OUTFILE|INTO DUMPFILE|ALTER TABLE|ALTER DOMAIN|' +
      'OUTER JOIN|FULL JOIN|WITH ROLLUP|SHOW TABLES|SHOW DATABASES|SHOW COLUMNS|READ WRITE|PRIMARY KEY|FOREIGN KEY',
  ],
  [KIND.function, 'IF EXISTS|IF NOT EXISTS|PROCEDURE'],
  [KIND.type, 'DOUBLE PRECISION|CHARACTER VARYING'],
];

/** Longer ones are names. */
const longestWord = 32;
const slots = 4_096;
const table = new Uint16Array(slots);
/** Of each word and phrase by its number, which begins with 1: its bytes (capitals) and its class. */
const texts: Uint8Array[] = [new Uint8Array()];
const kinds: number[] = [0];
const numbers = new Map<string, number>();
const pairs = new Map<number, number>();

/** To a capital letter, byte by byte. */
const UPPER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte));

const hashOf = (buf: Uint8Array, start: number, end: number): number => {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ UPPER[buf[at]!]!, 0x01000193);
  return (hash ^ (hash >>> 13)) & (slots - 1);
};

const number = (text: string, kind: number): number => {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  const bytes = Buffer.from(text, 'latin1');
  texts.push(bytes);
  kinds.push(kind);
  numbers.set(text, texts.length - 1);
  return texts.length - 1;
};

const addWord = (text: string, kind: number): number => {
  if (numbers.has(text)) return numbers.get(text)!;
  const added = number(text, kind);
  const bytes = texts[added]!;
  let slot = hashOf(bytes, 0, bytes.length);
  while (table[slot] !== 0) slot = (slot + 1) & (slots - 1);
  table[slot] = added;
  return added;
};

for (const [kind, list] of words) for (const word of list.split(' ')) addWord(word, kind);
const listed = phrases.flatMap(([kind, list]) => list.split('|').map((phrase) => [phrase, kind] as const));
const kindOfPhrase = new Map(listed);
for (const [phrase] of listed) {
  const parts = phrase.split(' ');
  let left = addWord(parts[0]!, KIND.name);
  for (let count = 2; count <= parts.length; count++) {
    const text = parts.slice(0, count).join(' ');
    const right = addWord(parts[count - 1]!, KIND.name);
    const whole = number(text, kindOfPhrase.get(text) ?? KIND.name);
    pairs.set(left * slots + right, whole);
    left = whole;
  }
}

/** The number of the word buf[start, end) in the dictionary, in any case; 0 when it is none. */
export const findWord = (buf: Uint8Array, start: number, end: number): number => {
  const length = end - start;
  if (length > longestWord || length < 2) return 0;
  for (let slot = hashOf(buf, start, end); table[slot] !== 0; slot = (slot + 1) & (slots - 1)) {
    const text = texts[table[slot]!]!;
    if (text.length !== length) continue;
    let at = 0;
    while (at < length && text[at] === UPPER[buf[start + at]!]) at++;
    if (at === length) return table[slot]!;
  }
  return 0;
};

/** The phrase that two words or phrases make together, 0 when they make none. */
export const findPhrase = (left: number, right: number): number => pairs.get(left * slots + right) ?? 0;

/** The class of a word or phrase. */
export const kindOfWord = (word: number): number => kinds[word]!;

/** The numbers of words that folding treats by name. Throws for one that is not in the dictionary. */
export const wordNumber = (text: string): number => {
  const found = numbers.get(text);
  if (found === undefined) throw new Error(`no word ${text} in the dictionary of SQL`);
  return found;
};
