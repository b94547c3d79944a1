const list = (text: string): string[] => text.trim().split(/\s+/);

/** Functions of all dialects, from the manuals; what they are called with does not matter to a detector. */
const shared = list(
  'abs ascii avg coalesce concat count length lower ltrim max min nullif replace round rtrim sum trim upper',
);

/** Functions of each dialect that attackers have a use for: what reads, converts, waits, tells or hides. */
export const functions = {
  mysql: [
    ...shared,
    ...list(`acos adddate addtime aes_decrypt aes_encrypt asin atan atan2 benchmark bin bit_count bit_length bit_or ceil ceiling char char_length
      character_length charset coercibility collation compress concat_ws connection_id conv convert_tz cos cot crc32 curdate current_user curtime
      database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear degrees elt exp export_set
      extractvalue field find_in_set floor format found_rows from_base64 from_days from_unixtime get_lock greatest group_concat gtid_subset hex hour
      if ifnull inet_aton inet_ntoa insert instr is_free_lock is_used_lock isnull json_extract json_keys last_day last_insert_id lcase least left ln
      load_file locate log log10 log2 lpad make_set makedate maketime master_pos_wait md5 microsecond mid minute mod month monthname name_const now
      oct octet_length ord password period_add period_diff pi position pow power quarter quote radians rand regexp_like release_lock repeat
      reverse right row_count rpad schema sec_to_time second session_user sha sha1 sha2 sign sin sleep soundex space sqrt std stddev
      str_to_date strcmp subdate substr substring substring_index subtime sysdate system_user tan time time_format time_to_sec
      timediff timestamp timestampadd timestampdiff to_base64 to_days truncate ucase uncompress unhex unix_timestamp updatexml user
      utc_date utc_time utc_timestamp uuid variance version week weekday weekofyear weight_string year yearweek`),
  ],
  postgresql: [
    ...shared,
    ...list(`age array_agg array_length array_to_string bool_and bool_or bit_length btrim cbrt ceil ceiling char_length chr clock_timestamp concat_ws
      convert_from convert_to current_database current_schema current_schemas current_setting current_user database_to_xml date_part date_trunc
      decode degrees div encode exp extract floor format generate_series get_byte greatest has_table_privilege inet_server_addr inet_server_port
      initcap least left ln lo_export lo_import log lpad md5 mod now octet_length overlay pg_backend_pid pg_client_encoding pg_ls_dir
      pg_read_file pg_sleep pg_stat_file pi position power query_to_xml quote_ident quote_literal radians random regexp_matches
      regexp_replace repeat reverse right row_number row_to_json rpad session_user set_config setseed sign split_part sqrt
      string_agg strpos substr substring table_to_xml to_char to_date to_hex to_number to_timestamp translate trunc version xmlagg xmlelement
      xpath_exists user`),
  ],
  tsql: [
    ...shared,
    ...list(`acos app_name asin atan atn2 binary_checksum cast ceiling char charindex checksum col_length col_name convert cos count_big
      current_timestamp current_user dateadd datediff datename datepart day db_id db_name degrees difference exp file_name floor format fn_virtualfilestats getdate
      getutcdate has_dbaccess hashbytes host_id host_name iif is_member is_srvrolemember isdate isnull isnumeric left len log log10 month nchar newid object_id object_name
      objectproperty openquery openrowset opendatasource original_login parsename patindex permissions pi power quotename radians rand replicate reverse right
      schema_name serverproperty session_user sign sin soundex space sqrt square stdev str stuff substring suser_id suser_name suser_sname system_user tan
      try_cast try_convert type_name unicode user_id user_name var year xact_state`),
  ],
  oracle: [
    ...shared,
    ...list(`add_months asciistr bitand cast ceil chr convert ctxsys.drithsx.sn current_date dbms_lock.sleep dbms_pipe.receive_message decode dump exp extract extractvalue floor greatest
      hextoraw initcap instr instrb last_day least lengthb listagg lnnvl ln log lpad mod months_between nlssort numtodsinterval nvl nvl2 ora_hash power rawtohex
      regexp_instr regexp_like regexp_replace regexp_substr rpad sign soundex sqrt stddev substr substrb sys_context sys_guid sysdate systimestamp to_char
      to_date to_number to_timestamp translate trunc uid user userenv utl_http.request utl_inaddr.get_host_address utl_inaddr.get_host_name utl_raw.cast_to_raw
      variance vsize wm_concat xmlagg xmlelement xmltype`),
  ],
  sqlite: [
    ...shared,
    ...list(`changes char date datetime glob group_concat hex ifnull iif instr json_extract julianday last_insert_rowid like likelihood likely
      load_extension printf quote random randomblob sqlite_compileoption_get sqlite_source_id sqlite_version strftime substr substring time total
      total_changes typeof unicode unlikely zeroblob`),
  ],
} as const;

export type Dialect = keyof typeof functions;
export const dialects = Object.keys(functions) as Dialect[];
