import { UserError } from '../../core/user-error.ts';

/** Where the bridge sends messages, and where it asks who it is. */
export interface ServiceUrls {
  readonly mcp: string;
  readonly account: string;
  /** For people: without credentials or query. */
  readonly shown: string;
}

const MCP_PATH = '/mcp';
const BASE_PATH = '/v0';

/** Takes the address of the service, with or without a base path, or that of its MCP surface. */
export function serviceUrls(given: string): ServiceUrls {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserError(
      '--url must be the http or https address of the service, such as https://index.example',
    );
  if (url.username !== '' || url.password !== '')
    throw new UserError('--url must not hold credentials: the key goes into SETTLEMENT_INDEX_KEY');
  const path = url.pathname.replace(/\/+$/, '');
  const base = `${url.origin}${path.endsWith(MCP_PATH) ? path.slice(0, -MCP_PATH.length) : path}`;
  const versioned = base.endsWith(BASE_PATH) ? base : `${base}${BASE_PATH}`;
  return { mcp: `${base}${MCP_PATH}`, account: `${versioned}/account`, shown: base };
}
