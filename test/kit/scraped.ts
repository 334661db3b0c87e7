/** The text of `/metrics` as a test reads it: families by name, samples with their labels. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scraped {
  /** Kind by name of family, as `# TYPE` declares it. */
  readonly families: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The one sample with this name and these labels; undefined for none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

export function readScrape(text: string): Scraped {
  const families = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const declared = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (declared?.[1] !== undefined) families.set(declared[1], declared[2] ?? '');
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample?.[1] === undefined) continue;
    samples.push({ name: sample[1], labels: labelsOf(sample[2] ?? ''), value: Number(sample[3]) });
  }
  return {
    families,
    samples,
    value: (name, labels = {}) =>
      samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )?.value,
  };
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** What a PromQL expression names: metrics, each with the labels of its selector and of the aggregation around it. */
export function namedIn(
  expression: string,
): { readonly metric: string; readonly labels: readonly string[] }[] {
  const plain = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const grouped = [...plain.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    ([, list = '']) => list.split(',').map((label) => label.trim()),
  );
  const selectors = plain.replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  return [...selectors.matchAll(/\b((?:settlement_index|process|nodejs)_\w+)\b(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', selector = '']) => ({
      metric,
      labels: [
        ...grouped,
        ...[...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
      ],
    }),
  );
}
