import { expect, test } from 'vitest';
import { isOfReplica } from '../../core/redis-client.ts';

/** Redis 6 wraps the refusal of a script: redis/ioredis#1089 has the text. */
test.each([
  ["READONLY You can't write against a read only replica.", true],
  ["READONLY You can't write against a read only replica. script: 5a1, on @user_script:3.", true],
  [
    "ERR Error running script (call to f_5a1c): @user_script:12: @user_script: 12: -READONLY You can't write against a read only replica. ",
    true,
  ],
  ['ERR Error running script (call to f_5a1c): @user_script:12: the READONLY flag is a word', false],
  ['NOSCRIPT No matching script. Please use EVAL.', false],
  ['LOADING Redis is loading the dataset in memory', false],
])('%s', (message, expected) => {
  expect(isOfReplica(new Error(message))).toBe(expected);
});
