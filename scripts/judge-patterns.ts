import { fileURLToPath } from 'node:url';
import { findPatterns, productSources } from './patterns/find.ts';
import { faultsOf } from './patterns/judged.ts';

/** `npm run patterns`: judges every regular expression of the product anew, in a minute. `npm run gen:check` judges those that are new. */

const found = findPatterns(productSources(fileURLToPath(new URL('../', import.meta.url))));
const faults = await faultsOf(found, found.places.keys());
for (const fault of faults) console.error(fault);
console.log(`${found.places.size} patterns, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
