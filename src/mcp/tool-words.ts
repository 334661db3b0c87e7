import type { AnyOperation } from '../operations/define.ts';
import { toolName } from './tool-name.ts';

/** Turns the routes in a text into tools: `GET /v0/sql/schema` is `get_sql_schema`. */
export type ToolWords = (text: string) => string;

/**
 * The catalogue speaks of routes, and whoever reads it here has tools. A route inside a URL stays: it is meant for another
 * client. So does what is sold, which only HTTP can buy.
 */
export function toolWordsOf(operations: readonly AnyOperation[]): ToolWords {
  const named = operations.filter(({ path, price }) => !path.includes('{') && price.class !== 'sold');
  if (named.length === 0) return (text) => text;
  const tools = new Map(named.map(({ path, id }) => [path, toolName(id)]));
  const paths = [...tools.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const route = new RegExp(`(?<![\\w./:])(?:(?:GET|POST) )?(?:/v0)?(${paths.join('|')})(?![\\w/-])`, 'g');
  return (text) => text.replace(route, (whole, path: string) => tools.get(path) ?? whole);
}

function escaped(path: string): string {
  return path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
