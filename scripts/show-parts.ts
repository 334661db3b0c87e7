import { serveParts } from '../test/kit/parts/parts-world.ts';

/** Serves the page with every part of the console in each of its states, until Ctrl-C: `npx tsx scripts/show-parts.ts`. */
const { origin } = await serveParts();
process.stdout.write(`${origin}/console/parts\n`);
