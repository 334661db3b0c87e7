/**
 * Rows of JSONCompactEachRowWithNamesAndTypes as the rows of a JSON answer. Values are passed on in the engine's own letters:
 * parsing them would round what only looks like a number that JavaScript knows.
 */

export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** What bounds values: whole texts, so that nothing inside of one counts, and the letters of the structure. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},]/g;
const DEPTH: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 };

/** The texts of the values in the line of one row, `["a",1,[2,3]]`, each as it stands there. */
export function valueTexts(line: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let from = 1;
  for (const { 0: token, index } of line.matchAll(TOKENS)) {
    depth += DEPTH[token] ?? 0;
    const isEnd = depth === 0 || (depth === 1 && token === ',');
    if (!isEnd) continue;
    texts.push(line.slice(from, index).trim());
    from = index + 1;
  }
  return texts;
}

/** Writes rows as objects. The keys are printed once, not once a row. */
export function objectWriter(columns: readonly ResultColumn[]): (line: string) => string {
  const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (line) => {
    const values = valueTexts(line);
    if (values.length !== keys.length) throw new Error('a row of the engine has other columns than its head');
    let text = '';
    for (const [index, key] of keys.entries()) text += key + (values[index] ?? '');
    return `${text}}`;
  };
}

/**
 * The columns of a result from its two head lines. An object cannot hold two values of one name: the second of a name gets a
 * number, so that none is lost.
 */
export function columnsOf(
  namesLine: string,
  typesLine: string,
  { unique }: { readonly unique: boolean },
): ResultColumn[] {
  const names = JSON.parse(namesLine) as string[]; // by the format that was asked for
  const types = JSON.parse(typesLine) as string[];
  const taken = new Set<string>();
  return names.map((name, index) => {
    const shown = unique ? unusedName(name, taken) : name;
    taken.add(shown);
    return { name: shown, type: types[index] ?? '' };
  });
}

function unusedName(name: string, taken: ReadonlySet<string>): string {
  let shown = name;
  for (let next = 2; taken.has(shown); next++) shown = `${name}_${next}`;
  return shown;
}
