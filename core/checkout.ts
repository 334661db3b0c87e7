import { existsSync } from 'node:fs';

/**
 * Whether the program runs from a checkout of the sources, by a loader or compiled by `scripts/run.mjs`, and not from the build of an
 * installation, which has the settings of the compiler nowhere.
 */
export const IS_CHECKOUT = existsSync(new URL('../tsconfig.json', import.meta.url));
