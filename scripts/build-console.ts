import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { buildConsole, CONSOLE_MANIFEST, type ConsoleManifest } from '../src/http/console/assets.ts';

/** Writes the bundled console to dist, where the compiled service reads it. Part of `npm run build`. */

const directory = new URL('../dist/console/assets/', import.meta.url);
const { script, style, files } = await buildConsole();
const manifest: ConsoleManifest = { script, style };

// Files of an older build have other names and would never be removed.
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
for (const [name, bytes] of files) writeFileSync(new URL(name, directory), bytes);
writeFileSync(new URL(CONSOLE_MANIFEST, directory), `${JSON.stringify(manifest, null, 2)}\n`);
