import { describe, expect } from 'vitest';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { docsQuestions, readCookbook } from '../../kit/docs-questions.ts';
import { readDocument } from '../../kit/documents.ts';
import { test } from '../../kit/fixtures.ts';
import type { Judge } from '../../kit/judge.ts';
import {
  BUYER,
  COMMENT,
  FEE,
  fillEndpoints,
  fillIdentities,
  fillRecords,
  LISTED,
  marketRows,
  RATINGS,
  RIVAL,
  RIVAL_AGENT,
  SHOP,
  SHOP_AGENT,
} from '../../kit/market.ts';
import { dayOf, dayText, groups, microsOf, sumUsd } from '../../kit/oracle/market.ts';
import { oracle } from '../../kit/oracle/oracle.ts';
import { rollUp } from '../../kit/roll-up.ts';
import { BASE, insertSettlements, nameFacilitator, POLYGON, reportChain } from '../../kit/rows.ts';

/** docs/cookbook.md and the other pages on SQL are true: each query answers what a plain loop over the rows computes. */

const DAY_SECONDS = 86_400;
/** Days before this one are closed, so that the rollups answer from both of their halves. */
const CLOSED_UNTIL_DAYS_AGO = 20;

const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS);
const rows = marketRows(today * DAY_SECONDS);
const since = (daysAgo: number): Settlement[] => rows.filter((row) => dayOf(row) >= today - daysAgo);
const questions = docsQuestions();

let judge: Judge;

test.beforeAll(async ({ sandbox: engine, judge: ofFile }) => {
  judge = ofFile;
  await insertSettlements(engine.writer, rows);
  const finalBlock = String(rows.at(-4)?.blockNumber);
  await reportChain(engine.writer, BASE, { finalized_block: finalBlock });
  await reportChain(engine.writer, POLYGON, { finalized_block: finalBlock });
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await fillIdentities(engine.writer);
  await fillEndpoints(engine.writer, today * DAY_SECONDS);
  await fillRecords(engine.writer);
  await rollUp(engine.writer, { below: (today - CLOSED_UNTIL_DAYS_AGO) * DAY_SECONDS });
});

async function answer(title: RegExp) {
  const found = questions.filter((question) => title.test(question.title));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} questions are ${title}`);
  return judge.rows(found[0].sql, found[0].params);
}

describe('the cookbook', () => {
  test('has its questions numbered, each followed by words, and every SQL block belongs to one', () => {
    expect(questions.map(({ number }) => number)).toEqual(questions.map((_, at) => at + 1));
    expect(questions.length).toBeGreaterThanOrEqual(20);
    expect(readCookbook().match(/```sql/g)).toHaveLength(questions.length);
  });

  // Every query runs, with rows, in test/docs/cookbook-results, but for the one that finds nothing in the sample data.
  test('finds bursts of payments where there are some', async () => {
    expect(await answer(/burst/i)).not.toEqual([]);
  });

  const [, refusedRows = ''] =
    /^\| refused \| instead \|\n\|.*\n([\s\S]*?)\n\n/m.exec(readDocument('docs/sql-dialect.md')) ?? [];
  const refused = refusedRows.split('\n').map((line) => /^\| `([^`]+)` \|/.exec(line)?.[1] ?? line);
  test.each(refused)('a query that it calls refused is refused: %s', async (sql) => {
    await judge.refused(sql);
  });
});

describe('the queries answer what plain loops over the rows compute', () => {
  test('self-payments', async () => {
    const expected = [...groups(since(30), ({ payee }) => payee)]
      .map(([payee, all]) => ({ payee, all, own: all.filter(({ payer }) => payer === payee) }))
      .filter(({ own }) => own.length > 0)
      .map(({ payee, all, own }) => [payee, all.length, sumUsd(all), sumUsd(own)]);
    const found = await answer(/paid by themselves/);
    expect(
      found.map(([payee, count, usd, own]) => [payee, Number(count), microsOf(usd), microsOf(own)]),
    ).toEqual(expected);
    expect(expected).toHaveLength(1);
  });

  test('fees of facilitators', async () => {
    const onBase = since(30).filter(({ chain, facilitator }) => chain === BASE && facilitator !== '');
    const fee = Number(FEE.gasUsed * FEE.gasPrice + FEE.l1Fee) / 1e18;
    const expected = [...groups(onBase, ({ facilitator }) => facilitator)].map(([name, all]) => [
      name,
      new Set(all.map(({ txHash }) => txHash)).size,
      all.length,
    ]);
    const found = await answer(/settling cost/);
    expect(
      found
        .map(([name, transactions, count]) => [
          String(name).toLowerCase(),
          Number(transactions),
          Number(count),
        ])
        .sort(),
    ).toEqual(expected.sort());
    for (const [, transactions, , fees] of found)
      expect(Number(fees)).toBeCloseTo(Number(transactions) * fee, 18);
    expect(expected.length).toBeGreaterThan(1);
  });

  test('comments of clients', async () => {
    expect(
      (await answer(/clients say/)).map(([agent, client, , comment]) => [agent, client, comment]),
    ).toEqual([[String(SHOP_AGENT.agentId), BUYER, COMMENT]]);
  });

  test('pairs that pay each other', async () => {
    const pairs = groups(
      since(30).filter(({ payer, payee }) => payer !== payee),
      ({ payer, payee }) => `${payer} ${payee}`,
    );
    const expected = [...pairs.keys()]
      .map((pair) => pair.split(' '))
      .filter(([one = '', other = '']) => one < other && pairs.has(`${other} ${one}`))
      .map(([one, other]) => {
        const [there = [], back = []] = [pairs.get(`${one} ${other}`), pairs.get(`${other} ${one}`)];
        return [one, other, there.length, back.length, sumUsd(there), sumUsd(back)];
      });
    const found = await answer(/back and forth/);
    expect(
      found.map(([one, other, there, back, usd, usdBack]) => [
        ...[one, other, Number(there), Number(back)],
        ...[microsOf(usd), microsOf(usdBack)],
      ]),
    ).toEqual(expected);
    expect(expected).not.toEqual([]);
  });

  test('how concentrated the payers of each merchant are', async () => {
    const found = new Map(
      (await answer(/concentrated/)).map(([payee, payers, , hhi]) => [payee, [payers, hhi]]),
    );
    const byPayee = groups(
      since(30).filter(({ payer, payee }) => payer !== payee),
      ({ payee }) => payee,
    );
    const judged = [...byPayee].filter(([, group]) => sumUsd(group) >= 1_000_000n);
    expect([...found.keys()].sort()).toEqual(judged.map(([payee]) => payee).sort());
    for (const [payee, group] of judged) {
      const [payers, hhi] = found.get(payee) ?? [];
      expect(Number(payers)).toBe(groups(group, ({ payer }) => payer).size);
      expect(Number(hhi)).toBeCloseTo(oracle.market.concentration(group), 4);
    }
  });

  test('the cohort table', async () => {
    const expected = [...oracle.market.cohorts(since(84))]
      .sort(([a], [b]) => a - b)
      .map(([week, { payers, again }]) => [
        dayText(week),
        payers,
        ...again.map((count) => Math.round((1_000 * count) / payers)),
      ]);
    const found = await answer(/cohort table/);
    expect(
      found.map(([week, payers, ...shares]) => [
        week,
        Number(payers),
        ...shares.map((share) => Math.round(Number(share) * 1_000)),
      ]),
    ).toEqual(expected);
    expect(new Set(expected.flatMap(([, , ...shares]) => shares)).size).toBeGreaterThan(2);
  });

  test('shares of facilitators by day', async () => {
    const found = await answer(/^Facilitators' share/);
    const expected = [...groups(since(30), dayOf)].flatMap(([day, all]) =>
      [...groups(all, ({ facilitator }) => facilitator || 'unknown')].map(
        ([name, own]) =>
          `${dayText(day)} ${name} ${own.length} ${sumUsd(own)} ${(own.length / all.length).toFixed(3)}`,
      ),
    );
    expect(
      found
        .map(
          ([day, name, count, usd, share]) =>
            `${day} ${name} ${count} ${microsOf(usd)} ${Number(share).toFixed(3)}`,
        )
        .sort(),
    ).toEqual(expected.sort());
  });

  test('modal prices', async () => {
    const graded = since(30).filter(({ method }) =>
      ['facilitator_relay', 'builder_code', 'catalogued_payee'].includes(method),
    );
    const expected = [...groups(graded, ({ payee, assetSymbol }) => `${payee} ${assetSymbol}`)]
      .filter(([, group]) => group.length >= 20)
      .map(([key, group]) => `${key} ${oracle.market.modalPrice(group)} ${group.length}`);
    const found = await answer(/modal price/);
    expect(
      found.map(([payee, symbol, price, count]) => `${payee} ${symbol} ${microsOf(price)} ${count}`).sort(),
    ).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(0);
  });

  test('the day of a new price', async () => {
    const found = await answer(/change its price/);
    const [last] = found.filter(
      ([, before, price]) => microsOf(before) === 10_000n && microsOf(price) === 12_000n,
    );
    expect(found.length).toBeGreaterThan(0);
    expect(last).toBeDefined();
  });

  test('payers of two merchants', async () => {
    const payersOf = (merchant: string) =>
      new Set(rows.filter(({ payee }) => payee === merchant).map(({ payer }) => payer));
    const [shop, rival] = [payersOf(SHOP), payersOf(RIVAL)];
    const both = new Set([...shop].filter((payer) => rival.has(payer)));
    const usdOfBoth = (merchant: string) =>
      sumUsd(rows.filter(({ payer, payee }) => payee === merchant && both.has(payer)));
    const [[first, second, shared, jaccard, firstUsd, secondUsd] = []] = await answer(/share customers/);
    expect([first, second, shared].map(Number)).toEqual([shop.size, rival.size, both.size]);
    expect(Number(jaccard)).toBeCloseTo(both.size / new Set([...shop, ...rival]).size, 3);
    expect([microsOf(firstUsd), microsOf(secondUsd)]).toEqual([usdOfBoth(SHOP), usdOfBoth(RIVAL)]);
  });

  test('streaks of days', async () => {
    const expected = oracle.market
      .streaks(since(90))
      .sort((a, b) => b.days - a.days || b.to - a.to || (a.payer < b.payer ? -1 : 1))
      .slice(0, 20)
      .map(({ payer, from, to, days }) => [payer, dayText(from), dayText(to), days]);
    const found = await answer(/^Streaks/);
    expect(found.map(([payer, from, to, days]) => [payer, from, to, Number(days)])).toEqual(expected);
  });

  test('months of a merchant, of all its history', async () => {
    const own = rows.filter(({ payee }) => payee === SHOP);
    const expected = [...groups(own, (row) => `${dayText(dayOf(row)).slice(0, 7)}-01`)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([month, group]) => [month, group.length, sumUsd(group)]);
    const found = await answer(/merchant's months/);
    expect(found.map(([month, count, usd]) => [month, Number(count), microsOf(usd)])).toEqual(expected);
  });

  test('the second payment', async () => {
    const byPayer = [...groups(since(30), ({ payer }) => payer).values()];
    const [[all, again, share] = []] = await answer(/second payment/);
    expect([Number(all), Number(again)]).toEqual([
      byPayer.length,
      byPayer.filter((group) => group.length >= 2).length,
    ]);
    expect(Number(share)).toBeCloseTo(Number(again) / Number(all), 3);
  });

  test('a wallet’s running sum', async () => {
    const own = rows.flatMap((row) => [
      ...(row.payer === BUYER ? [-row.amountUsdMicros] : []),
      ...(row.payee === BUYER ? [row.amountUsdMicros] : []),
    ]);
    const found = await answer(/running balance/);
    const newestFirst = own.toReversed().slice(0, 100);
    expect(found.map(([, , , change]) => microsOf(change))).toEqual(newestFirst);
    expect(microsOf(found[0]?.[4])).toBe(own.reduce((sum, change) => sum + change, 0n));
  });

  test('payers who are gone', async () => {
    const expected = [...groups(since(90), ({ payer }) => payer)]
      .filter(([, group]) => group.every((row) => dayOf(row) < today - 30))
      .map(([payer, group]) => `${payer} ${sumUsd(group)} ${group.length}`);
    const found = await answer(/are gone/);
    expect(found.map(([payer, usd, count]) => `${payer} ${microsOf(usd)} ${count}`).sort()).toEqual(
      expected.sort(),
    );
    expect(expected.length).toBeGreaterThan(0);
  });

  const paidTo = (wallet: string, days: number): Settlement[] =>
    since(days).filter(({ chain, payee, payer }) => chain === BASE && payee === wallet && payer !== wallet);

  test('agents by revenue', async () => {
    const expected = [SHOP_AGENT, RIVAL_AGENT]
      .map(({ agentId, name, wallet }) => ({ agentId, name, paid: paidTo(wallet, 30) }))
      .sort((a, b) => Number(sumUsd(b.paid) - sumUsd(a.paid)))
      .map(({ agentId, name, paid }) => [
        ...[BASE, String(agentId), name, paid.length, sumUsd(paid)],
        groups(paid, ({ payer }) => payer).size,
      ]);
    const found = await answer(/Agents by revenue/);
    expect(
      found.map(([chain, id, name, count, usd, payers]) => [
        ...[chain, id, name, Number(count), microsOf(usd), Number(payers)],
      ]),
    ).toEqual(expected);
    expect(expected).toHaveLength(2);
  });

  test('what sellers list and charge', async () => {
    const onBase = since(30).filter(({ chain, payee }) => chain === BASE && payee === SHOP);
    const { service, resource, micros } = LISTED.shop;
    const found = await answer(/charge what they list/);
    expect(
      found.map(([name, url, listed, observed, count]) => [
        ...[name, url, microsOf(listed), microsOf(observed), Number(count)],
      ]),
    ).toEqual([[service, resource, micros, oracle.market.modalPrice(onBase), onBase.length]]);
  });

  test('ratings of those who paid, and of those who did not', async () => {
    const mean = (values: readonly bigint[]): number | null =>
      values.length === 0 ? null : Number(values.reduce((sum, value) => sum + value, 0n)) / values.length;
    const expected = [SHOP_AGENT, RIVAL_AGENT].map(({ agentId, name, wallet }) => {
      const payers = new Set(since(90).flatMap(({ payer, payee }) => (payee === wallet ? [payer] : [])));
      const ratings = RATINGS[String(agentId)] ?? [];
      const [paid, others] = [true, false].map((hasPaid) =>
        ratings.flatMap(({ author, value }) => (payers.has(author) === hasPaid ? [value] : [])),
      );
      return [
        ...[BASE, String(agentId), name, ratings.length, paid?.length],
        ...[mean(paid ?? []), mean(others ?? [])],
      ];
    });
    const found = await answer(/rate an agent also pay it/);
    expect(
      found.map(([chain, id, name, ratings, byPayers, ...values]) => [
        ...[chain, id, name, Number(ratings), Number(byPayers)],
        ...values,
      ]),
    ).toEqual(expected);
    expect(expected.map((row) => row.at(-2))).toEqual([85, null]);
  });
});
