import { expect, test } from 'vitest';
import { cardRolesOf } from '../../../console/components/card-roles.ts';

const text = (name: string, more = {}) => ({ name, ...more });
const figure = (name: string, more = {}) => ({ name, isFigure: true, ...more });

test('the row header and the first figure make the first line, the next columns the second', () => {
  const columns = [
    text('Wallet', { isRowHeader: true }),
    figure('Organic'),
    text('Trend', { priority: 2 }),
    figure('Change'),
    text('Verdict'),
    figure('Payers', { priority: 3 }),
    figure('All dollars'),
  ];
  expect(cardRolesOf(columns)).toEqual(['head', 'lead', 'rest', 'meta', 'meta', 'rest', 'rest']);
});

test('without a row header the first text stands for the row', () => {
  expect(cardRolesOf([figure('Rank'), text('Resource'), text('Paid to')])).toEqual(['lead', 'head', 'meta']);
});

test('what a column says of itself is kept, and takes the place of what would follow', () => {
  const settlement = [
    text('Time', { card: 'meta' }),
    text('Payer', { card: 'head' }),
    text('Payee', { card: 'head' }),
    figure('Amount', { card: 'meta' }),
    text('Facilitator', { priority: 2 }),
    text('Chain and transaction'),
  ];
  expect(cardRolesOf(settlement)).toEqual(['meta', 'head', 'head', 'meta', 'rest', 'rest']);
});

test('every column has a place', () => {
  const names = Array.from({ length: 12 }, (_, at) => text(`column ${at}`));
  const roles = cardRolesOf(names);
  expect(roles).toHaveLength(12);
  expect(roles.filter((role) => role === 'rest')).toHaveLength(9);
});
