/** How our commands are called here: by npm where the program runs from its sources, by its own name where it is installed. */

/** Commands of the program that package.json has a script for. */
const OWN_SCRIPTS: ReadonlySet<string> = new Set(['admin', 'doctor', 'import']);

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** `commandText('admin key list')`: what a person types for it. */
export function commandText(words: string, isSource = IS_SOURCE): string {
  if (!isSource) return `settlement-index ${words}`;
  const [command = '', ...rest] = words.split(' ');
  if (!OWN_SCRIPTS.has(command)) return `npm start -- ${words}`;
  return `npm run ${command}${rest.length === 0 ? '' : ` -- ${rest.join(' ')}`}`;
}
