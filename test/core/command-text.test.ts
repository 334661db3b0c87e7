import { expect, test } from 'vitest';
import { commandText } from '../../core/command-text.ts';

test('commands are called as they can be here', () => {
  expect(commandText('migrate')).toBe('npm start -- migrate');
  expect(commandText('admin key list')).toBe('npm run admin -- key list');
  expect(commandText('admin key list', false)).toBe('settlement-index admin key list');
});
