#!/usr/bin/env node

/**
 * What `settlement-index` runs. Desktop clients start the bridge and wait for it: it does without the service and what that loads.
 */
if (process.argv[2] === 'mcp') await import('./mcp-bridge/main.ts');
else await import('./main.ts');
