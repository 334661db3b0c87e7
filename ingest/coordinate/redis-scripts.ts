/** The one command that leases and rates are made of: a script that Redis runs as a whole. */
export interface RedisScripts {
  eval(lua: string, keys: number, ...keysAndValues: readonly (string | number)[]): Promise<unknown>;
}
