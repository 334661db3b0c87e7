import type { ComponentChildren } from 'preact';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { ProblemState } from '../components/states.tsx';
import { chainText, countText, shareText } from '../format.ts';
import {
  type Counted,
  type CoverageSums,
  coverageSums,
  deadLettersOf,
  isNamedTelling,
} from '../parts/coverage-sums.ts';
import { METHOD_NAMES } from '../parts/evidence-ladder.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { coverageSql } from '../parts/ranking-sql.ts';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { Link } from '../router.tsx';
import { type PageProps, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Coverage, CoverageDay } from '../wire.ts';

const PATH = '/coverage';
const SPANS = [7, 30, 90] as const;

/** What was seen of each chain on each day, and what is missing. */
export function CoveragePage({ query }: PageProps) {
  const chain = query.get('chain');
  const days = SPANS.find((span) => String(span) === query.get('days')) ?? SPANS[0];
  const { answer, problem, reload } = useAnswer<Coverage>(PATH, {
    query: { days, ...(chain === null ? {} : { chain }) },
  });
  const isHere = problem === null || answer !== null;
  return (
    <>
      <PageHead title="Coverage" tools={<OpenInSql {...coverageSql({ days, chain })} isButton />}>
        What the index has seen of each chain on each day, and what it has not. Counts, and no amounts.
      </PageHead>
      <StatusTabs current={PATH} />
      <FilterForm label="Filter coverage" query={query}>
        <nav class="segmented window-choice" aria-label="Days">
          {SPANS.map((span) => (
            <Link
              key={span}
              to={withQuery(PATH, query, { days: span === SPANS[0] ? null : String(span) })}
              current={span === days}
            >
              {span} days
            </Link>
          ))}
        </nav>
        <SelectFilter path={PATH} query={query} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {isHere ? <CoverageBody days={answer?.days ?? null} /> : null}
    </>
  );
}

function CoverageBody({ days }: { readonly days: readonly CoverageDay[] | null }) {
  const sums = coverageSums(days ?? []);
  return (
    <>
      <CoverageStats sums={sums} isLoading={days === null} />
      <section aria-labelledby="days-title">
        <h2 id="days-title">By day</h2>
        <DataTable
          caption="Coverage by day"
          columns={DAY_COLUMNS}
          rows={days}
          keyOf={({ chain, day }) => `${chain} ${day}`}
          empty={<p class="state muted">No block of these days was read.</p>}
        />
      </section>
      {days === null || days.length === 0 ? null : (
        <div class="columns">
          <Counts title="Evidence of the rows" of={sums.byMethod} nameOf={methodText} />
          <Counts title="What the rows are" of={sums.byKind} nameOf={wordsOf}>
            Only payments count in figures and rankings.
          </Counts>
          <Counts title="Logs that became no row" of={sums.byReason} nameOf={wordsOf} isFault>
            They are read again, and leave this list when they become a row.
          </Counts>
        </div>
      )}
      <Limits />
    </>
  );
}

const part = (some: number, whole: number): string => shareText(BigInt(some), BigInt(whole)) ?? '–';

function CoverageStats({ sums, isLoading }: { readonly sums: CoverageSums; readonly isLoading: boolean }) {
  const { seen, unpaired, payments, named, unnamed, blocksIndexed, blocksPartial, blocksMissing } = sums;
  const { deadLetters } = sums;
  const allBlocks = blocksIndexed + blocksPartial + blocksMissing;
  const inPart = blocksPartial > 0 ? `${countText(blocksPartial)} in part, ` : '';
  const noted = (note: string) => (isLoading ? {} : { note });
  return (
    <Stats>
      <Stat
        name={blocksPartial > 0 ? 'Blocks read whole' : 'Blocks read'}
        isLoading={isLoading}
        {...noted(`${inPart}${countText(blocksMissing)} missing`)}
      >
        {part(blocksIndexed, allBlocks)}
      </Stat>
      <Stat name="Authorizations with a row" isLoading={isLoading} {...noted(`of ${countText(seen)} seen`)}>
        {part(seen - unpaired, seen)}
      </Stat>
      <Stat name="Payments" isLoading={isLoading}>
        {countText(payments)}
      </Stat>
      <Stat
        name="By a named facilitator"
        isLoading={isLoading}
        {...noted(`${countText(unnamed)} by others${blocksPartial > 0 ? ', of blocks read whole' : ''}`)}
      >
        {part(named, named + unnamed)}
      </Stat>
      <Stat name="Logs without a row" isLoading={isLoading}>
        <span class={deadLetters > 0 ? 'warn' : undefined}>{countText(deadLetters)}</span>
      </Stat>
    </Stats>
  );
}

const DAY_COLUMNS: readonly Column<CoverageDay>[] = [
  { name: 'Day', isRowHeader: true, cell: ({ day }) => <span class="number">{day}</span> },
  { name: 'Chain', card: 'meta', cell: ({ chain }) => chainText(chain) },
  {
    name: 'Read from',
    priority: 3,
    cell: ({ sources }) => sources.map((source) => SOURCE_NAMES[source]).join(', ') || '–',
  },
  {
    name: 'Blocks read',
    isFigure: true,
    card: 'lead',
    help: 'Of the blocks of the day, those read whole; “in part” where only transactions of named fee payers were read; a dash where no record says which were read',
    cell: ({ blocks }) => <BlocksRead blocks={blocks} />,
  },
  {
    name: 'Missing',
    isFigure: true,
    help: 'Blocks of the day that were not read',
    cell: ({ blocks }) => <Fault count={blocks?.missing ?? null} />,
  },
  {
    name: 'Payments',
    isFigure: true,
    card: 'meta',
    cell: ({ by_kind: kinds }) => countText(kinds.payment),
  },
  {
    name: 'Named',
    isFigure: true,
    help: 'Of the payments, those that a named facilitator relayed; a dash where only these were read',
    cell: (day) =>
      isNamedTelling(day) ? part(day.by_facilitator.named, day.by_kind.payment) : <Fault count={null} />,
  },
  {
    name: 'Authorizations',
    isFigure: true,
    help: 'EIP-3009 authorizations that were used',
    cell: ({ authorizations }) => countText(authorizations.seen),
  },
  {
    name: 'Without a row',
    isFigure: true,
    help: 'Logs that became no row, authorizations without a transfer among them',
    cell: (day) => <Fault count={deadLettersOf(day)} />,
  },
];

function BlocksRead({ blocks }: Pick<CoverageDay, 'blocks'>) {
  if (blocks === null) return <span class="muted">–</span>;
  if (blocks.partial > 0) return <span class="warn">in part</span>;
  return part(blocks.indexed, 1 + blocks.last - blocks.first);
}

const SOURCE_NAMES = { rpc: 'node', portal: 'SQD Portal', import: 'import' } as const;

function Fault({ count }: { readonly count: number | null }) {
  if (count === null) return <span class="muted">–</span>;
  return <span class={count > 0 ? 'warn' : 'muted'}>{countText(count)}</span>;
}

interface CountsProps {
  readonly title: string;
  readonly of: readonly Counted[];
  nameOf(name: string): string;
  /** Whether each of them is a fault. */
  readonly isFault?: boolean;
  readonly children?: ComponentChildren;
}

function Counts({ title, of, nameOf, isFault = false, children }: CountsProps) {
  const id = title.toLowerCase().replaceAll(' ', '-');
  const whole = of.reduce((all, { count }) => all + count, 0);
  const columns: readonly Column<Counted>[] = [
    { name: 'What', isRowHeader: true, cell: ({ name }) => nameOf(name) },
    {
      name: 'Number',
      isFigure: true,
      cell: ({ count }) => (isFault ? <Fault count={count} /> : countText(count)),
    },
    // A share of faults says nothing.
    ...(isFault ? [] : [{ name: 'Share', isFigure: true, cell: ({ count }: Counted) => part(count, whole) }]),
  ];
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
      </div>
      {children === undefined ? null : <p class="note muted">{children}</p>}
      <DataTable
        class="compact counts"
        caption={title}
        columns={columns}
        rows={of}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

function methodText(name: string): string {
  const names: Readonly<Record<string, string>> = METHOD_NAMES;
  return names[name] ?? name;
}

function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Limits() {
  return (
    <section aria-labelledby="limits-title">
      <h2 id="limits-title">What 100 % means, and what no index can see</h2>
      <p>
        100% is every settlement whose events a listed contract or token emits, on the chains that are read
        here, in the blocks that were read. Blocks read in part hold payments of named fee payers alone.
        Payments that are collected off chain and settled in batches, tokens without a marker, private relays,
        and chains that are not read are in no figure.{' '}
        <a href="/docs/methodology#coverage">How it is counted</a>
      </p>
    </section>
  );
}
