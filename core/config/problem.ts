/** What a user must correct, one line per problem. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigProblem';
    this.problems = problems;
  }
}

/** A password or a URL with a path key must not be echoed back by a validation message. */
export function hideSecrets(problem: string): string {
  return /password|secret|rpcUrls|clickhouse\.url|facilitators\.\d+\.url|facilitatorUrl|facilitatorHeaders|redisUrl|visitorKey/i.test(
    problem,
  )
    ? problem.replace(/, not .*$/s, '')
    : problem;
}
