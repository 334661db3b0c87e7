import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** What `docker compose …` of the documentation asks for, as far as it can be carried out without Docker. */

const ROOT = new URL('../../', import.meta.url);
const FLAGS_OF_UP: ReadonlySet<string> = new Set(['--build', '--detach', '--wait']);
const PROGRAM = ['node', 'dist/src/main.js'];

/** The words for our program that a container is to run; null where Docker alone is asked. Throws for what no file or service allows. */
export function composeCommand(given: readonly string[]): readonly string[] | null {
  const words = [...given];
  if (words.shift() !== 'compose') throw new Error('no test knows this command of docker');
  const files: string[] = [];
  while (words[0] === '-f') files.push(...words.splice(0, 2).slice(1));
  const services = (files.length === 0 ? ['docker-compose.yml'] : files).flatMap(servicesOf);
  const verb = words.shift();
  switch (verb) {
    case 'up': {
      const unknown = words.filter((word) => !FLAGS_OF_UP.has(word));
      if (unknown.length > 0) throw new Error(`no test knows ${unknown.join(' ')}`);
      return null;
    }
    case 'exec': {
      const [service = '', ...rest] = words;
      if (!services.includes(service)) throw new Error(`there is no service ${service}`);
      if (rest.slice(0, PROGRAM.length).join() !== PROGRAM.join()) throw new Error('not our program');
      return rest.slice(PROGRAM.length);
    }
    default:
      throw new Error(`no test knows docker compose ${verb}`);
  }
}

function servicesOf(file: string): string[] {
  const { services } = parse(readFileSync(new URL(file, ROOT), 'utf8'), { merge: true }) as {
    services: Record<string, unknown>;
  }; // our own file
  return Object.keys(services);
}
