import { expect, it } from 'vitest';
import { catalogueSourceText, nameSourceText, nameSourceWord } from '../../console/name-source.ts';

it('no name stands without its source, not even one that this version does not know', () => {
  expect(['agent_card', 'operator_catalogue', 'other_list', null, undefined].map(nameSourceText)).toEqual([
    'named by its agent card',
    'named by this service',
    'named by other list',
    'no name known',
    'no name known',
  ]);
  expect(['endpoint_catalogue', 'other_list'].map(nameSourceWord)).toEqual(['listing', 'other list']);
  expect(['built-in', 'elsewhere'].map(catalogueSourceText)).toEqual(['built-in table', 'elsewhere']);
});
