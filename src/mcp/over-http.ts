import type { AnyOperation } from '../operations/define.ts';
import { takesBody } from '../operations/params.ts';
import type { Arguments } from './arguments.ts';

/** Longer texts, such as a query, are named and not repeated. */
const SHOWN_MAX_CHARS = 300;

/**
 * The same call over HTTP, where it can be paid for: `GET https://index.example/v0/flows?limit=5`. `url`: where the caller knows the service.
 * Arguments that are missing stay as `{name}`.
 */
export function callOverHttp({ method, path, params }: AnyOperation, given: Arguments, url: string): string {
  const inPath = (name: string): boolean => params[name]?.in === 'path';
  const filled = path.replace(/\{(\w+)\}/g, (mark, name: string) =>
    given[name] === undefined ? mark : encodeURIComponent(textOf(given[name])),
  );
  const others = Object.entries(given).filter(([name]) => !inPath(name));
  const address = `${method} ${url}/v0${filled}`;
  if (takesBody({ method })) return `${address} with these arguments as its JSON body`;
  const query = new URLSearchParams(others.map(([name, value]) => [name, textOf(value)])).toString();
  const whole = query === '' ? address : `${address}?${query}`;
  return whole.length > SHOWN_MAX_CHARS ? `${address} with these arguments as its query` : whole;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
