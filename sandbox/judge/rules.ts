import { COLUMNS_FIRST, readsColumnsFirst, SESSION_ZONE, timeZoneOf } from '../policy/settings.ts';
import {
  checkClauses,
  checkFirstWord,
  checkKinds,
  checkQuotedNames,
  checkRawLiterals,
  checkViewClauses,
  hasTotals,
  rollupForTotals,
  trailingFormat,
  withoutFormat,
} from './clauses.ts';
import { checkColumns, columnsOf } from './columns.ts';
import { differences } from './differences.ts';
import { checkConstants, firstWarnings, placesIn } from './literals/constants.ts';
import { checkParameters, checkParameterTypes, checkValues, parametersOf } from './literals/parameters.ts';
import { checkMatchedTimes, withPlainTimes } from './literals/times.ts';
import {
  checkFunctions,
  checkSecondView,
  checkTableFunctions,
  checkTables,
  checkWords,
  tableNodes,
} from './names.ts';
import { attribute } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { rewritesOf } from './rewrites.ts';
import type { Rule, Subject } from './rule.ts';
import { checkRepeatedStates, checkStates } from './states.ts';
import { walletKeys } from './wallet-keys.ts';
import { checkWork } from './work/block-time.ts';
import { checkFrames } from './work/frames.ts';
import { checkFreeRows } from './work/free-rows.ts';
import { hasLongKeys } from './work/long-keys.ts';
import { checkLambdas, checkReadings, isSafeToPlan } from './work/planning.ts';

/**
 * The first judgement: its rules, in the order in which inspect.ts applies them. A rule throws `Refused` or returns facts for later
 * rules and the run. To add one, write its function in the file of its subject and its entry here. The second judgement, of the
 * resolved names, is resolved.ts.
 */

export const QUERY_MAX_BYTES = 64 * 1024;

export const RULES: readonly Rule[] = [
  {
    name: 'size',
    on: 'text',
    says: 'The text is not empty, not longer than 64 KiB, and holds no NUL byte.',
    check: checkText,
  },
  {
    name: 'first-word',
    on: 'tokens',
    says: 'It begins with SELECT or WITH, as it was written and as the engine understood it.',
    check: ({ written, tokens }) => checkFirstWord(written, tokens),
  },
  {
    name: 'token-kinds',
    on: 'tokens',
    says: 'It is one statement without heredocs, session variables and signs that the lexer does not know.',
    check: ({ tokens }) => checkKinds(tokens),
  },
  {
    name: 'quoted-names',
    on: 'tokens',
    says: 'No quoted name holds a character that could forge a line of the printed tree.',
    check: ({ tokens }) => checkQuotedNames(tokens),
  },
  {
    name: 'clauses',
    on: 'tokens',
    says: 'It has no INTO OUTFILE, PARALLEL WITH or STREAM, and no SETTINGS but those that were left out before.',
    check: ({ tokens }) => checkClauses(tokens),
  },
  {
    name: 'raw-literals',
    on: 'tokens',
    says: 'No literal that the tree prints without quotes holds an escape.',
    check: ({ tokens }) => checkRawLiterals(tokens),
  },
  {
    name: 'format',
    on: 'tokens',
    says: 'A FORMAT at its end is dropped with a warning, and one that is no form of the answer is refused; for a client of the ClickHouse interface it is kept apart.',
    find({ tokens, canonical, warnings, keepsFormat, caller }) {
      const format = trailingFormat(tokens, keepsFormat);
      if (format === null) return {};
      const text = Buffer.from(canonical).subarray(0, format.at).toString('utf8').trimEnd();
      if (keepsFormat) return { text, format: format.name };
      return {
        text,
        warnings: [...warnings, { code: 'format_ignored', ...caller.edits(withoutFormat(caller)) }],
      };
    },
  },
  {
    name: 'parameter-types',
    on: 'tokens',
    says: 'Its placeholders stand for values, not for names or states.',
    find({ tokens }) {
      const parameters = parametersOf(tokens);
      checkParameterTypes(parameters);
      return { parameters };
    },
  },
  {
    name: 'parameters',
    on: 'tokens',
    says: 'Every placeholder has a value, and every value a placeholder.',
    check: ({ parameters, values }) => checkParameters(parameters, values),
  },
  {
    name: 'parameter-values',
    on: 'tokens',
    says: 'The type of a placeholder can hold its value, which the engine would otherwise read as another.',
    check: ({ parameters, values }) => checkValues(parameters, values),
  },
  {
    name: 'table-functions',
    on: 'tree',
    says: 'Its table functions make rows from their arguments and read nothing.',
    find: (query) => ({ tableNames: checkTableFunctions(query) }),
  },
  {
    name: 'tables',
    on: 'tree',
    says: 'It reads public tables, tables of the organization of its caller, and what it declares in WITH.',
    find(query) {
      const names = checkTables(query);
      return {
        tableNames: new Set([...query.tableNames, ...names]),
        tables: [...names].filter(
          (name) => query.policy.tables.has(name) || query.policy.own?.has(name) === true,
        ),
      };
    },
  },
  {
    name: 'functions',
    on: 'tree',
    says: 'Every function that it calls or names in a string is on the reviewed list.',
    find: (query) => ({ functions: checkFunctions(query) }),
  },
  {
    name: 'words',
    on: 'tree',
    says: 'No other word is the name of a refused function or of a virtual column.',
    check: (query) => checkWords(query),
  },
  {
    name: 'lambda-calls',
    on: 'tree',
    says: 'Its named lambdas become few calls when the engine opens them.',
    check: ({ root }) => checkLambdas(root),
  },
  {
    name: 'frames',
    on: 'tree',
    says: 'Its window frames reach only as far as the engine can be stopped while it computes them.',
    find: ({ root, blockRows }) => ({ blockRows: Math.min(checkFrames(root), blockRows) }),
  },
  {
    name: 'table-readings',
    on: 'tree',
    says: 'It reads few tables, counting a CTE each time it is named.',
    check: (query) => checkReadings(query),
  },
  {
    name: 'free-rows',
    on: 'tree',
    says: 'A query that is free, over the catalogue, can make few rows of the tables that it names.',
    check: (query) => checkFreeRows(query),
  },
  {
    name: 'states',
    on: 'tree',
    says: 'No bytes of the caller become a state of an aggregate function, which the engine trusts.',
    check: ({ root }) => checkStates(root),
  },
  {
    name: 'repeated-states',
    on: 'tree',
    says: 'No join, array or lambda repeats a state that takes long to merge.',
    check: ({ root }) => checkRepeatedStates(root),
  },
  {
    name: 'block-time',
    on: 'tree',
    says: 'One block of it takes at most 2 s, because the engine looks at its clock between blocks only.',
    find({ root, tokens, policy, blockRows, tables }) {
      const own = tables.flatMap((name) => policy.own?.get(name) ?? []);
      const care = checkWork(root, tokens, { functions: policy.functions, own });
      return {
        blockRows: Math.min(care.blockRows, blockRows),
        memoryMaxBytes: care.memoryBytes,
      };
    },
  },
  {
    name: 'columns',
    on: 'tree',
    says: 'Every name is a column of a table that it reads, or declared in it.',
    check: (query) => checkColumns({ ...query, functions: query.policy.functions, own: query.policy.own }),
  },
  {
    name: 'view-clauses',
    on: 'tree',
    says: 'It has no PREWHERE and no SAMPLE, which do not work on views.',
    check: ({ root }) => checkViewClauses(root),
  },
  {
    name: 'totals',
    on: 'tree',
    says: 'The row of WITH TOTALS is left out with a warning.',
    find: ({ root, warnings, caller }) =>
      hasTotals(root)
        ? { warnings: [...warnings, { code: 'totals_left_out', ...caller.edits(rollupForTotals(caller)) }] }
        : {},
  },
  {
    name: 'matched-times',
    on: 'tree',
    says: 'CASE x WHEN and transform match no time with a text, which would equal none.',
    check: ({ root, tables, meaningsIn }) => checkMatchedTimes(root, meaningsIn(tables)),
  },
  {
    name: 'constants',
    on: 'tree',
    says: 'A constant that no row can equal is run with a warning.',
    find({ root, tables, meaningsIn, caller, positionAt, warnings }) {
      const found = checkConstants(root, meaningsIn(tables), placesIn(caller, positionAt));
      return { warnings: [...warnings, ...found.warnings], namedConstants: found.named };
    },
  },
  {
    name: 'differences',
    on: 'tree',
    says: 'Where it means something else than in standard SQL it is run with a warning.',
    find({ root, tables, meaningsIn, warnings, settings, ...query }) {
      const { isNullable } = meaningsIn(tables);
      const found = differences({
        ...query,
        root,
        columnsOf: (table) => columnsOf(table, query.policy.own),
        mayBeNull: isNullable,
        prefersColumns: readsColumnsFirst(settings),
      });
      return { warnings: [...warnings, ...firstWarnings(found)] };
    },
  },
  {
    name: 'wallet-keys',
    on: 'tree',
    says: 'It is noted where ids of wallets would do in place of their addresses.',
    find: ({ root, tables, meaningsIn }) => ({ walletKeys: walletKeys(root, meaningsIn(tables)) }),
  },
  {
    name: 'long-keys',
    on: 'tree',
    says: 'It holds more in memory before it goes on disk only if it groups by addresses and transactions.',
    find: ({ root, tables, meaningsIn, policy }) => ({
      hasLongKeys: hasLongKeys(root, meaningsIn(tables), policy.functions),
    }),
  },
  {
    name: 'rewrites',
    on: 'tree',
    says: 'It is noted how its text would read the last days alone, group by ids, or list fewer rows.',
    find: ({ caller, tables, walletKeys }) => ({ rewrites: rewritesOf(caller, { tables, walletKeys }) }),
  },
  {
    name: 'plain-times',
    on: 'tree',
    says: 'An ISO 8601 time that a column of times is compared with is written in the form that the engine reads.',
    find: ({ root, tables, meaningsIn, text, tokens }) => ({
      text: withPlainTimes(text, tokens, root, meaningsIn(tables)),
    }),
  },
  {
    name: 'safe-to-plan',
    on: 'tree',
    says: 'It is planned for a caller without a key only if planning it computes nothing that takes long.',
    find: ({ root }) => ({ safeToPlan: isSafeToPlan(root) }),
  },
  {
    name: 'stand-ins',
    on: 'tree',
    says: 'A filter or a time zone that a client sent apart from the text holds wherever the text names the table.',
    check(query) {
      const named = tableNodes(query).map((node) => attribute(node, 'identifier'));
      for (const [table, times] of query.replacedTables)
        if (named.filter((name) => name === table).length !== times)
          refuse('settings', {
            near: table,
            detail: `A filter or time zone cannot be applied to ${table} in this query. Write it into the query.`,
          });
    },
  },
  {
    name: 'own-settings',
    on: 'tree',
    says: 'Where the caller asks for it, a name is a column before it is an alias, and times are of its zone.',
    find({ text, settings }) {
      const zone = timeZoneOf(settings);
      const own = [
        ...(readsColumnsFirst(settings) ? [`${COLUMNS_FIRST} = 1`] : []),
        ...(zone === null ? [] : [`${SESSION_ZONE} = '${zone}'`]),
      ];
      return own.length === 0 ? {} : { text: `${text} SETTINGS ${own.join(', ')}` };
    },
  },
  {
    name: 'second-view',
    on: 'ast',
    says: 'The engine’s other printed form shows no table and no function that the rules above did not see.',
    check: ({ astLines, ...judged }) => checkSecondView(astLines, judged),
  },
];

/** The rules for one form, in order. */
export function rulesOn<On extends Subject>(subject: On): readonly Extract<Rule, { on: On }>[] {
  return RULES.filter((rule): rule is Extract<Rule, { on: On }> => rule.on === subject);
}

function checkText(text: string): void {
  if (text.trim() === '') refuse('empty');
  if (Buffer.byteLength(text) > QUERY_MAX_BYTES) refuse('too_long');
  if (text.includes('\0')) refuse('nul_byte');
}
