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

/** What a PromQL expression names: metrics, each with the labels of its selector, of the aggregations around it and of joins. */
export function namedIn(
  expression: string,
): { readonly metric: string; readonly labels: readonly string[] }[] {
  const plain = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const lists = [...plain.matchAll(/\b(by|without|on|ignoring)\s*\(([^)]*)\)\s*/g)].map(
    ({ 0: { length }, 1: word = '', 2: list = '', index }) => {
      const labels = list.split(',').flatMap((label) => label.trim() || []);
      const from = index + length;
      // The grouped labels stand in the parentheses behind; every other list is taken to be about all of the expression.
      const isAround = (word === 'by' || word === 'without') && plain[from] === '(';
      return { labels, from: isAround ? from : 0, to: isAround ? closingAt(plain, from) : plain.length };
    },
  );
  const blank = (list: string): string => ' '.repeat(list.length);
  const selectors = plain.replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, blank);
  return [...selectors.matchAll(/\b((?:settlement_index|process|nodejs)_\w+)\b(?:\{([^}]*)\})?/g)].map(
    ({ 1: metric = '', 2: selector = '', index }) => ({
      metric,
      labels: [
        ...lists.filter(({ from, to }) => from <= index && index < to).flatMap(({ labels }) => labels),
        ...[...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
      ],
    }),
  );
}

/** Where the parenthesis that opens at `from` is closed. */
function closingAt(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
