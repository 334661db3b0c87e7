import { Readable } from 'node:stream';
import { rowsOf } from '../../clickhouse/catalogue/rows.ts';
import { CATALOGUE_TABLES, PUBLISHED_DATABASE } from '../../clickhouse/catalogue/tables.ts';
import { EngineError, type Guest, type GuestResult } from '../../clickhouse/engine/engine.ts';
import { GUEST_LITTLE_MEMORY_BYTES } from '../../clickhouse/guest/memory.ts';
import { isOrganizationName, organizationName } from '../../core/domain/caller.ts';
import { displayText } from '../../core/domain/display-text.ts';
import type { SqlCallers } from '../../core/domain/plan.ts';
import { type Accepted, createVerdictCache, inspect } from '../judge/inspect.ts';
import { firstWord, namesIn } from '../judge/lexer.ts';
import { parametersAsSent, parametersOf, valuesAsRead } from '../judge/literals/parameters.ts';
import { isProblem, type Parsed, type SqlParser } from '../judge/parser.ts';
import { Refused, refuse } from '../judge/refusal.ts';
import { CATALOGUE_ROWS_MADE_MAX } from '../limits.ts';
import { clickhouseFormat } from '../policy/formats.ts';
import { policyVersion, type SqlPolicy } from '../policy/policy.ts';
import type { Admission, UnreadResults } from '../run/admission.ts';
import { explainFailure } from '../run/explain-failure.ts';
import type { FreeTime } from '../run/free-time.ts';
import { openPlanning, type Planning, type PlanningDeps, type Resolve } from '../run/planning.ts';
import { CallerLeft, StoppedLate } from '../run/watchdog.ts';
import {
  type Introspected,
  type IntrospectionRequest,
  QueryAbandoned,
  QueryFailed,
  type SqlSandbox,
} from '../sandbox.ts';
import { catalogueSelect, isDatabase, type Session, schemaOf, withoutDatabase } from './select.ts';
import { describedRows, FIRST_WORDS, statementAnswer } from './show.ts';
import { type CatalogueStatement, isWord, withoutEnd } from './words.ts';

/**
 * What tools ask a ClickHouse server about itself, answered from the published catalogue (docs/design/sandbox.md): SHOW, DESCRIBE,
 * EXISTS, USE, SET, SELECTs over `system` and `information_schema`, and constants such as `version()`. Free of charge, so every answer
 * shares the one place of the estimates and their two seconds, makes few rows (judge/work/free-rows.ts), and counts towards the engine
 * time that its caller has for free.
 */
export interface IntrospectDeps extends PlanningDeps {
  /** Whose SQL this deployment runs: these are texts of callers, too. */
  readonly openTo: () => SqlCallers;
  readonly guest: Pick<Guest, 'explain' | 'query'>;
  readonly parser: SqlParser;
  readonly admission: Pick<Admission, 'inspect' | 'admit' | 'punish'>;
  readonly unread: UnreadResults;
  readonly freeTime: FreeTime;
  /** The second judgement, for the views of the catalogue and for the public tables. */
  readonly resolve: { readonly catalogue: Resolve; readonly tables: Resolve };
  readonly policy: { readonly catalogue: SqlPolicy; readonly tables: SqlPolicy };
}

/** The catalogue's views with the functions of `policy`, and nothing that makes rows: a query over the catalogue is free. */
export function cataloguePolicy(policy: SqlPolicy): SqlPolicy {
  const columns = new Set(CATALOGUE_TABLES.flatMap((table) => table.columns.map(({ name }) => name)));
  return {
    functions: policy.functions,
    tables: new Set(CATALOGUE_TABLES.map(({ view }) => view)),
    columns,
    // The JDBC driver joins the types with rows of its own. It reads nothing and makes no rows but those in the text.
    tableFunctions: new Set(['values']),
    // `database` and `user` are columns of the catalogue and functions of the engine; the second judgement sees which of them it is.
    columnsBeforeFunctions: columns,
    freeRows: {
      of: new Map(CATALOGUE_TABLES.map((table) => [table.view, rowsOf(table).length])),
      max: CATALOGUE_ROWS_MADE_MAX,
    },
  };
}

/** Anything longer is no introspection: the longest known question of a client, JDBC's getColumns, has 5 KiB. */
const TEXT_MAX_CHARS = 16_384;
const ROWS_MAX = 100_000;
const SECONDS_MAX = 2;
const VERDICTS = { entriesMax: 500, charsMax: 4 * 1024 * 1024 } as const;
const USER_MAX_CHARS = 100;

const MENTIONED =
  /^(system|information_schema|version|\w*timezone|current_?(user|database)|database|schema|user|hostname|fqdn|displayname)$/;

/** Whether it can be a question of introspection. For any other text `introspect` would answer null, and parse it for that. */
export function mayBeIntrospection(text: string): boolean {
  if (text.length > TEXT_MAX_CHARS) return false;
  const first = firstWord(text, 'behind brackets').toUpperCase();
  if (first === 'SELECT' || first === 'WITH') return asksNoTable(text);
  return first === 'DESC' || FIRST_WORDS.some((word) => word === first);
}

/** Whether it names a part of the catalogue or a constant of the session, or has no FROM. */
function asksNoTable(text: string): boolean {
  const words = [...namesIn(text)].flatMap((name) => name.text.replace(/[`"]/g, '').toLowerCase().split('.'));
  return words.some((word) => MENTIONED.test(word)) || !words.includes('from');
}

export function createIntrospection(deps: IntrospectDeps): Pick<SqlSandbox, 'introspect'> {
  const cache = createVerdictCache(VERDICTS);
  const remembered = rememberedParses();
  const version = policyVersion(deps.policy.catalogue);
  const judged: Judge = async (text, { parameters, callerName }, kind) => {
    const policy = deps.policy[kind];
    const verdict = await deps.admission.inspect(callerName, ({ engineVersion }) =>
      cache.verdict({ engineVersion, policyVersion: `${kind} ${version}`, text, parameters }, () =>
        inspect(text, parameters, { parser: deps.parser, policy }),
      ),
    );
    if ('refused' in verdict) throw new Refused(verdict.refused);
    return verdict.accepted;
  };
  return {
    async introspect(request) {
      // The metered path refuses a caller whose SQL is not run here.
      if (deps.openTo() !== 'everyone' && !isOrganizationName(request.callerName)) return null;
      const parsed = await deps.admission.inspect(request.callerName, ({ engineVersion }) =>
        remembered(`${engineVersion} ${request.text}`, () => deps.parser.parse(request.text)),
      );
      // The metered path explains what does not parse.
      if (isProblem(parsed)) return null;
      const parameters = valuesAsRead(parametersOf(parsed.tokens), request.parameters);
      return answered(parsed, { ...request, parameters }, { ...deps, judged });
    },
  };
}

/** Dashboards and drivers send the same texts again and again; the oldest is dropped. */
const PARSES_MAX = 100;

function rememberedParses() {
  const known = new Map<string, ReturnType<SqlParser['parse']>>();
  return (key: string, parse: () => ReturnType<SqlParser['parse']>): ReturnType<SqlParser['parse']> => {
    const parsed = known.get(key) ?? parse();
    known.delete(key);
    known.set(key, parsed);
    parsed.catch(() => known.delete(key));
    const [oldest] = known.keys();
    if (known.size > PARSES_MAX && oldest !== undefined) known.delete(oldest);
    return parsed;
  };
}

type Kind = 'catalogue' | 'tables';
type Judge = (text: string, request: IntrospectionRequest, kind: Kind) => Promise<Accepted>;
type Deps = IntrospectDeps & { readonly judged: Judge };

async function answered(
  parsed: Parsed,
  request: IntrospectionRequest,
  deps: Deps,
): Promise<Introspected | null> {
  const session = sessionOf(request);
  if (isShowSchemas(parsed)) return answered(await databasesInstead(parsed, deps), request, deps);
  const [first] = parsed.tokens;
  if (isWord(first, 'SELECT', 'WITH') || first?.text === '(') return selected(parsed, request, deps);
  if (!isWord(first, ...FIRST_WORDS)) return null;
  const statement = withoutEnd(parsed.canonical, parsed.tokens);
  const format = clickhouseFormat(statement.format ?? request.format);
  // Refused by name when it is run as a query.
  if (format === undefined) return null;
  const answer = statementAnswer(statement, parsed.written, session);
  if (answer === 'nothing') return { format, body: Readable.from([]), resultRows: 0, resultBytes: 0 };
  const text = 'select' in answer ? answer.select : await describedQuery(answer.describe, request, deps);
  // The parameters belonged to the described query.
  return run(text, { ...request, parameters: {} }, format, deps);
}

function sessionOf({ database, callerName, userName = userOf(callerName) }: IntrospectionRequest): Session {
  const known =
    database !== null && isDatabase(database) ? (schemaOf(database) ?? database) : PUBLISHED_DATABASE;
  // It becomes the name of a column, which holds no invisible character.
  const user = displayText(userName.replaceAll('\\', ' '), USER_MAX_CHARS);
  return { database: known, user: user === '' ? ANONYMOUS : user };
}

const ANONYMOUS = 'anonymous';

/** Never the address of a caller without an organization. */
function userOf(callerName: string): string {
  return isOrganizationName(callerName) ? callerName.slice(organizationName('').length) : ANONYMOUS;
}

/** The engine reads SHOW SCHEMAS as `SELECT show AS schemas`. */
function isShowSchemas({ written }: Parsed): boolean {
  const [first, second] = written;
  return /^show$/i.test(first?.text ?? '') && /^schemas$/i.test(second?.text ?? '');
}

async function databasesInstead({ written }: Parsed, { parser }: Deps): Promise<Parsed> {
  const rest = written.slice(2).map(({ text }) => text);
  const parsed = await parser.parse(['SHOW DATABASES', ...rest].join(' '));
  return isProblem(parsed) ? refuse('syntax', { near: 'SCHEMAS' }) : parsed;
}

async function selected(
  parsed: Parsed,
  request: IntrospectionRequest,
  deps: Deps,
): Promise<Introspected | null> {
  const isFree = (statement: CatalogueStatement): boolean =>
    !statement.tokens.some((token) => isWord(token, 'FROM', 'JOIN')) ||
    mentioned(statement, sessionOf(request));
  if (!isFree({ text: parsed.canonical, tokens: parsed.tokens, format: null })) return null;
  const statement = withoutEnd(parsed.canonical, parsed.tokens);
  const format = clickhouseFormat(statement.format ?? request.format);
  if (format === undefined) return null;
  const written = catalogueSelect(statement, sessionOf(request));
  try {
    const accepted = await deps.judged(written.text, request, 'catalogue');
    // A text that neither reads the catalogue nor asks for the session is free only where it costs nothing, such as SELECT 1.
    if (!written.readsCatalogue && !written.readsSession && !isConstant(accepted, parsed)) return null;
  } catch (error) {
    if (!(error instanceof Refused) || written.readsCatalogue) throw mixedUp(error);
    return null;
  }
  return run(written.text, request, format, deps);
}

/**
 * Calls in the texts without a table with which clients list fixed words, and those that the engine adds to a LIMIT. `arrayJoin` only
 * once, because two multiply.
 */
const CONSTANT_CALLS: ReadonlySet<string> = new Set([
  ...['array', 'arrayJoin', 'tuple', 'CAST', '_CAST', 'toInt16', 'toInt32'],
  ...['multiIf', 'greaterOrEquals', 'least', 'minus'],
]);

function isConstant({ safeToPlan, functions }: Accepted, { tokens }: Parsed): boolean {
  if (safeToPlan) return true;
  const rows = tokens.filter(({ text }) => /^arrayJoin$/i.test(text)).length;
  return rows <= 1 && functions.every((name) => CONSTANT_CALLS.has(name));
}

/** Whether the text names a table of the catalogue or a constant of the session. */
function mentioned(statement: CatalogueStatement, session: Session): boolean {
  const { readsCatalogue, readsSession } = catalogueSelect(statement, session);
  return readsCatalogue || readsSession;
}

/** A public table in a text over the catalogue. */
function mixedUp(error: unknown): unknown {
  if (!(error instanceof Refused) || error.refusal.code !== 'unknown_table') return error;
  return new Refused({
    ...error.refusal,
    detail:
      'A query reads either the catalogue or the public tables: the catalogue is free, the tables are metered.',
    hint: 'Send one query for each.',
  });
}

/** Judges a query as if it was to run, and asks the engine for its columns alone. */
async function describedQuery(text: string, request: IntrospectionRequest, deps: Deps): Promise<string> {
  const parsed = await deps.parser.parse(text);
  if (isProblem(parsed)) return refuse('syntax');
  const statement: CatalogueStatement = { text: parsed.canonical, tokens: parsed.tokens, format: null };
  const written = catalogueSelect(statement, sessionOf(request));
  const kind = written.readsCatalogue || written.readsSession ? 'catalogue' : 'tables';
  const accepted = await deps.judged(
    kind === 'tables' ? withoutDatabase(statement) : written.text,
    request,
    kind,
  );
  const rows = await placed(accepted, request, kind, deps, (planning) =>
    planning.ask({
      guest: deps.guest,
      name: 'sql-describe',
      question: (text) => `DESCRIBE TABLE (${text})`,
      withoutRows: true,
    }),
  );
  return describedRows(rows);
}

async function run(
  text: string,
  request: IntrospectionRequest,
  format: string,
  deps: Deps,
): Promise<Introspected> {
  const accepted = await deps.judged(text, request, 'catalogue');
  const { figures, body, mediaType, contentCoding } = await placed(
    accepted,
    request,
    'catalogue',
    deps,
    (planning): Promise<GuestResult> =>
      planning.run((queryId, until) =>
        deps.guest.query(
          {
            name: 'sql-introspect',
            text: accepted.text,
            parameters: parametersAsSent(accepted.parameters, request.parameters),
            queryId,
            format,
            maxSeconds: SECONDS_MAX,
            // One more shows that there are more.
            maxRows: ROWS_MAX + 1,
            memoryBytes: GUEST_LITTLE_MEMORY_BYTES,
            ...(request.written === undefined ? {} : { written: request.written }),
          },
          until,
        ),
      ),
  );
  if (figures.resultRows > ROWS_MAX) {
    body.destroy();
    throw new QueryFailed({
      reason: 'result_size',
      detail: `Limit for result exceeded: a question to the catalogue has at most ${ROWS_MAX} rows.`,
      figures: null,
    });
  }
  deps.unread.watch(request.callerName, body);
  return {
    format,
    body,
    resultRows: figures.resultRows,
    resultBytes: figures.resultBytes,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(contentCoding === undefined ? {} : { contentCoding }),
  };
}

/** Runs `work` in the place for estimates, once the resolved names have been judged. */
async function placed<Result>(
  accepted: Accepted,
  { callerName: caller, parameters, signal }: IntrospectionRequest,
  kind: Kind,
  deps: Deps,
  work: (planning: Planning) => Promise<Result>,
): Promise<Result> {
  const query = { accepted, parameters, caller };
  deps.unread.check(caller);
  deps.freeTime.check(caller);
  return deps.admission.admit({ caller, text: accepted.text, load: 'plan' }, signal, async (place) => {
    const planning = openPlanning(deps, query, signal);
    const began = performance.now();
    try {
      await deps.resolve[kind](query, planning);
      return await work(planning);
    } catch (error) {
      throw failureOf(error, accepted);
    } finally {
      // In the one place it is the engine's time, and that of questions that failed is no less.
      deps.freeTime.use(caller, performance.now() - began);
      planning.leave(place);
    }
  });
}

function failureOf(error: unknown, accepted: Accepted): unknown {
  if (error instanceof CallerLeft) return new QueryAbandoned(null);
  if (error instanceof EngineError) return explainFailure(error, accepted, null);
  if (!(error instanceof StoppedLate)) return error;
  if (!error.obeyed) return new EngineError('unreachable', 'sql-introspect', null, error);
  const detail = `A question to the catalogue may take ${SECONDS_MAX} seconds.`;
  return new QueryFailed({ reason: 'timeout', detail, figures: null, cause: error });
}
