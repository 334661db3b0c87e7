import { type UserError, userErrors } from '../user-error.ts';

/** What a user must correct in the configuration. */
export function configProblems(problems: readonly string[]): UserError {
  return userErrors('The configuration is not valid', problems);
}

/** A password or a URL with a path key must not be echoed back by a validation message. */
export function hideSecrets(problem: string): string {
  return /password|secret|rpcUrls|clickhouse\.url|facilitators\.\d+\.url|facilitatorUrl|facilitatorHeaders|redisUrl|visitorKey/i.test(
    problem,
  )
    ? problem.replace(/, not .*$/s, '')
    : problem;
}
