import { SQLDialect } from '@codemirror/lang-sql';

/** What analysts may write of ClickHouse’s SELECT language; functions come from the API. */
export const KEYWORDS =
  'with select distinct on as from final sample array join global any all asof semi anti left right full inner outer cross paste using prewhere where group by rollup cube totals having window over partition rows range between unbounded preceding following current row qualify order asc desc nulls first last collate fill to step staleness interpolate limit offset ties union except intersect and or not in is null like ilike rlike regexp exists case when then else end cast extract interval second minute hour day week month quarter year true false explain format settings recursive values columns apply replace';
const TYPES =
  'int8 int16 int32 int64 int128 int256 uint8 uint16 uint32 uint64 uint128 uint256 float32 float64 decimal decimal32 decimal64 decimal128 decimal256 string fixedstring bool date date32 datetime datetime64 array tuple map nullable lowcardinality enum8 enum16 uuid ipv4 ipv6 variant dynamic json';

/** The dialect with the functions that this deployment allows; without them until the schema is there. */
export function clickHouseDialect(functions: readonly string[]): SQLDialect {
  return SQLDialect.define({
    keywords: KEYWORDS,
    types: TYPES,
    // The package looks words up in lower case.
    builtin: functions.join(' ').toLowerCase(),
    backslashEscapes: true,
    hashComments: true,
    doubleQuotedStrings: false,
    identifierQuotes: '`"',
    operatorChars: '*+-%<>!=/|?:',
    specialVar: '',
  });
}
