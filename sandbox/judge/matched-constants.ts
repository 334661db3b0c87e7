import { KNOWN_CHAINS } from '../../core/domain/known-chains.ts';
import type { ColumnDomain } from '../../core/domain/public-tables.ts';
import { nearest } from '../../core/nearest-name.ts';
import type { ColumnMeanings } from './column-meaning.ts';
import { comparisons } from './constants.ts';
import type { TreeNode } from './query-tree.ts';
import type { Position } from './refusal.ts';
import type { NamedConstant, QueryWarning } from './warnings.ts';

/**
 * Constants that no row can equal: `payer = '0xAb…'`, `chain = 'base'`, a tier that there is none of. The query runs, and its answer
 * looks like one, so the caller is told what to write.
 */
export interface ConstantFacts {
  readonly warnings: readonly QueryWarning[];
  readonly named: readonly NamedConstant[];
}

/** More than these say nothing new, and headers are short. */
const CONSTANTS_MAX = 5;
const NEAR_MAX_CHARS = 80;

export function checkConstants(
  root: TreeNode,
  meanings: ColumnMeanings,
  positionOfText: (text: string) => Position | undefined,
): ConstantFacts {
  const warnings = new Map<string, QueryWarning>();
  const named = new Map<string, NamedConstant>();
  for (const { expression, texts } of comparisons(root)) {
    const domain = meanings.domainOf(expression);
    for (const text of texts) {
      const at = positionOfText(text);
      const position = at === undefined ? {} : { position: at };
      const trouble = troubleWith(text, domain, meanings.mayBeNull(expression));
      if (trouble !== undefined) warnings.set(text, warningOf(text, trouble, position));
      else if (domain === 'chain' || domain === 'facilitator')
        named.set(`${domain} ${text}`, { of: domain, text, ...position });
    }
  }
  return {
    warnings: [...warnings.values()].slice(0, CONSTANTS_MAX),
    named: [...named.values()].slice(0, CONSTANTS_MAX),
  };
}

export interface Trouble {
  readonly message: string;
  /** Without quotes. */
  readonly meant?: string | undefined;
}

export function warningOf(
  text: string,
  { message, meant }: Trouble,
  position: { readonly position?: Position },
): QueryWarning {
  return {
    code: 'constant_matches_nothing',
    message,
    near: text.slice(0, NEAR_MAX_CHARS),
    ...position,
    ...(meant === undefined ? {} : { replacement: `'${meant}'` }),
  };
}

/** Undefined where a row may have the text. */
function troubleWith(
  text: string,
  domain: ColumnDomain | undefined,
  isNullable: boolean,
): Trouble | undefined {
  if (text === '' && isNullable)
    return { message: 'What is unknown is NULL, not an empty text: write IS NULL.' };
  if (domain === undefined || domain === 'facilitator') return undefined;
  if (domain === 'address') return hexTrouble(text, ADDRESS_DIGITS, 'Addresses');
  if (domain === 'tx_hash') return hexTrouble(text, HASH_DIGITS, 'Hashes of transactions');
  return domain === 'chain' ? chainTrouble(text) : listTrouble(text, domain);
}

const ADDRESS_DIGITS = 40;
const HASH_DIGITS = 64;

function hexTrouble(text: string, digits: number, what: string): Trouble | undefined {
  const hex = /^(?:0x)?([0-9a-f]+)$/i.exec(text.trim())?.[1]?.toLowerCase();
  const meant = hex?.length === digits ? `0x${hex}` : undefined;
  if (meant === text) return undefined;
  return { message: `${what} are lower-case texts here: 0x and ${digits} digits.`, meant };
}

const CHAIN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const EVM_CHAIN = /^eip155:(\d+)$/i;

function chainTrouble(text: string): Trouble | undefined {
  const number = EVM_CHAIN.exec(text)?.[1];
  if (number !== undefined ? text === `eip155:${number}` : isOtherChain(text)) return undefined;
  const meant = number ?? (/^\d+$/.test(text) ? text : chainIdNamed(text));
  return {
    message: 'Chains are called by their CAIP-2 names here, such as eip155:8453 for Base.',
    meant: meant === undefined ? undefined : `eip155:${meant}`,
  };
}

function isOtherChain(text: string): boolean {
  return CHAIN.test(text) && !/^eip155:/i.test(text);
}

function chainIdNamed(text: string): string | undefined {
  const names = new Map(
    KNOWN_CHAINS.flatMap(({ chainId, slug, name }) => [
      [slug, String(chainId)],
      [name.toLowerCase(), String(chainId)],
    ]),
  );
  const wanted = text.trim().toLowerCase();
  return names.get(wanted) ?? names.get(nearest(wanted, [...names.keys()]) ?? '');
}

function listTrouble(text: string, values: readonly string[]): Trouble | undefined {
  if (values.includes(text)) return undefined;
  const spelled = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return {
    message: `No row has this value: the values are ${values.join(', ')}.`,
    meant: values.find((value) => value === spelled) ?? nearest(spelled, values),
  };
}

/** Of constants that the sandbox let pass: what is indexed here, and which facilitators are known. */
export function warningsOfNamed(
  named: readonly NamedConstant[],
  known: { readonly chains: readonly string[]; readonly facilitators: readonly string[] },
): QueryWarning[] {
  return named.flatMap(({ of, text, ...position }) => {
    const names = of === 'chain' ? known.chains : known.facilitators;
    if (names.includes(text) || names.length === 0) return [];
    const message =
      of === 'chain'
        ? `This chain is not indexed here: the chains are ${names.join(', ')}.`
        : 'No facilitator has this id: the table facilitators lists them.';
    const meant = of === 'chain' ? undefined : facilitatorMeant(text, names);
    return [warningOf(text, { message, meant }, position)];
  });
}

function facilitatorMeant(text: string, ids: readonly string[]): string | undefined {
  const spelled = text.trim().toLowerCase();
  return ids.find((id) => id.toLowerCase() === spelled) ?? nearest(spelled, ids);
}
