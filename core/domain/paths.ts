/** Where a deployment serves what, below its public URL. */

/** The two base paths serve identical answers. */
export const BASE_PATHS = ['/v0', '/api/v0'] as const;

/** Where agents find the MCP surface; the same under each base path. */
export const MCP_PATHS = ['/mcp', ...BASE_PATHS.map((base) => `${base}/mcp`)] as const;
