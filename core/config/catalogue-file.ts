import { CatalogueFileSchema, CatalogueSchema } from './catalogue-schema.ts';
import { checked, readJsonObject } from './checked-file.ts';
import type { CatalogueSection } from './config.ts';
import { configProblems, hideSecrets } from './problem.ts';
import { resolveSection } from './resolve-catalogue.ts';

/** Reads a catalogue file. Throws `UserError` with everything that is wrong with it. */
export function readCatalogueFile(path: string): CatalogueSection {
  const problems: string[] = [];
  const section = resolveSection(checked(CatalogueFileSchema, readJsonObject(path)), '', problems);
  if (problems.length > 0)
    throw configProblems(problems.map((problem) => `${path}: ${hideSecrets(problem)}`));
  return section;
}

/** The key `catalogue` of a configuration file alone, for a service that runs already: it takes no other key anew. */
export function readConfiguredCatalogue(path: string): CatalogueSection {
  const problems: string[] = [];
  const raw = checked(CatalogueSchema, readJsonObject(path)['catalogue'] ?? {});
  const section = resolveSection(raw, 'catalogue.', problems);
  if (problems.length > 0) throw configProblems(problems.map(hideSecrets));
  return section;
}
