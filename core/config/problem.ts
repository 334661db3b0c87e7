import { type UserError, userErrors } from '../user-error.ts';

/** A `UserError` that lists the problems of a configuration. */
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

/** The address that a process listens on, and the settings that it comes from. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /** Both settings with their variables: `http.host (HOST)`. */
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** Turns a failure to listen into a problem that names the setting, if the user can correct it; otherwise returns the error. */
export function asListenProblem(error: unknown, place: ListenPlace): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const problem = problemOf(code, place);
  return problem === undefined ? error : configProblems([problem]);
}

function problemOf(code: unknown, { host, port, hostSetting, portSetting }: ListenPlace): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `${portSetting}: something listens on ${host}:${port} already; stop it or choose another port`;
    case 'EACCES':
      return `${portSetting}: this user may not listen on port ${port}; choose one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting}: ${host} is no address of this machine`;
    default:
      return undefined;
  }
}
