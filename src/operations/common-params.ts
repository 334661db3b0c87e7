import { Type } from '@sinclair/typebox';
import { nearest } from '../../core/command-text.ts';
import type { Address, TransactionId } from '../../core/domain/account.ts';
import { CAPABILITIES } from '../../core/domain/capability.ts';
import { type Chain, isChain, referenceOf } from '../../core/domain/chains.ts';
import { CURSOR_MAX_CHARS } from '../../core/domain/cursor.ts';
import { EVIDENCE_TIERS, type EvidenceTier } from '../../core/domain/evidence.ts';
import { KNOWN_CHAINS } from '../../core/domain/known-chains.ts';
import { parseSnapshot, SNAPSHOT_MAX_CHARS, type Snapshot } from '../../core/domain/snapshot.ts';
import type { FinalityFilter } from './index-state/finality.ts';
import { flagParam, invalid, type Param, quoted, readChoice } from './params.ts';
import {
  ADDRESS_SCHEMA,
  readAddressParam,
  readTransactionParam,
  TRANSACTION_SCHEMA,
} from './read-account.ts';

/** The parameters that several operations share, each once. */

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

export const limitParam: Param<number> = {
  in: 'query',
  description: `Rows on a page, 1 to ${LIMIT_MAX}. Values out of range are clamped, not refused.`,
  toolText: `Rows, at most ${LIMIT_MAX}.`,
  required: false,
  schema: Type.Integer({ default: LIMIT_DEFAULT }),
  example: 10,
  read: (raw, name) => {
    if (raw === undefined) return LIMIT_DEFAULT;
    const whole =
      typeof raw === 'number' ? Number.isInteger(raw) : isText(raw) && /^[+-]?\d{1,30}$/.test(raw);
    if (!whole) throw invalid(name, `${name} must be an integer, not ${quoted(raw)}.`);
    return Math.min(Math.max(Number(raw), 1), LIMIT_MAX);
  },
};

/** Only the shape is checked here: the signature needs the keys and the list it belongs to. */
export const beforeParam: Param<string | undefined> = {
  in: 'query',
  description: 'Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it.',
  toolText: 'Earlier next_before.',
  required: false,
  schema: Type.String({ maxLength: CURSOR_MAX_CHARS }),
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (!isText(raw) || raw === '' || raw.length > CURSOR_MAX_CHARS) {
      throw invalid(name, `${name} must be a cursor as returned in next_before.`);
    }
    return raw;
  },
};

/** Only the shape is checked here, as with `before`. */
export const afterParam: Param<string | undefined> = {
  in: 'query',
  description:
    'Opaque cursor: `prev_after` of an earlier answer to the same list and filters. Returns what was written since, oldest first, and `retracted`. Cannot be combined with `before`, `finality=finalized`, `facilitator`, `tier` or `min_probability`.',
  toolText: 'prev_after: what is new since.',
  required: false,
  schema: Type.String({ maxLength: CURSOR_MAX_CHARS }),
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (!isText(raw) || raw === '' || raw.length > CURSOR_MAX_CHARS)
      throw invalid(name, `${name} must be a cursor as returned in prev_after.`);
    return raw;
  },
};

/** Whether the index can answer it is found out by the run. */
export const asOfParam: Param<Snapshot | undefined> = {
  in: 'query',
  description:
    '`meta.snapshot` of an earlier answer: the same final rows again, without names and what else `meta.left_out` lists ([snapshots](/docs/snapshots)).',
  toolText: '',
  required: false,
  schema: Type.String({ maxLength: SNAPSHOT_MAX_CHARS }),
  read: readSnapshot,
};

function readSnapshot(raw: unknown, name: string): Snapshot | undefined {
  if (raw === undefined) return undefined;
  const snapshot = isText(raw) ? parseSnapshot(raw) : null;
  if (snapshot !== null) return snapshot;
  throw invalid(name, `${name} must be a snapshot as meta.snapshot gives it, not ${quoted(raw)}.`);
}

/** The scope of an answer without it, spelled out. */
const ALL_CHAINS = 'all';

/**
 * The one parameter by which an answer is about a chain, and undefined for every indexed chain together: it narrows an answer, and no
 * operation has another default. A wallet is the same on every EVM chain, so a figure of one chain says little about it.
 */
export const chainParam: Param<Chain | undefined> = {
  in: 'query',
  description:
    'Only this chain, by CAIP-2 name. Default, and `all`: every indexed chain. `meta.chain` says which was served.',
  toolText: 'Like base. Else all.',
  otherNames: { network: {}, chain_id: {}, blockchain: {} },
  meant: chainByName,
  required: false,
  schema: Type.String({ pattern: '^(eip155:[0-9]+|solana:[1-9A-HJ-NP-Za-km-z]{32}|all)$' }),
  example: 'eip155:8453',
  read: (raw, name, { chains }) =>
    raw === undefined || raw === ALL_CHAINS ? undefined : readChain(raw, name, chains, [ALL_CHAINS]),
};

/** `Base`, `base` and `8453` are `eip155:8453`. */
function chainByName(word: string): string {
  const wanted = word.toLowerCase();
  const known = KNOWN_CHAINS.find(
    ({ name, slug, chain }) =>
      name.toLowerCase() === wanted || slug === wanted || referenceOf(chain).toLowerCase() === wanted,
  );
  return known?.chain ?? word;
}

/** `alsoTaken`: words that the parameter takes besides a chain, for the message. */
export function readChain(
  raw: unknown,
  name: string,
  chains: readonly Chain[],
  alsoTaken: readonly string[] = [],
): Chain {
  if (isText(raw) && isChain(raw) && chains.includes(raw)) return raw;
  const supported = [...chains, ...alsoTaken].join(', ');
  throw invalid(name, `${name} ${quoted(raw)} is not served here; supported: ${supported}.`);
}

export const walletParam: Param<Address> = {
  in: 'path',
  description: 'Wallet address: hex in any case, where mixed case must match EIP-55, or base58 of Solana.',
  toolText: 'Address.',
  otherNames: {
    wallet: {},
    address: {},
    wallet_address: {},
    entity: {},
    payee: { role: 'payee' },
    pay_to: { role: 'payee' },
    seller: { role: 'payee' },
    merchant: { role: 'payee' },
    payer: { role: 'payer' },
    buyer: { role: 'payer' },
  },
  required: true,
  schema: ADDRESS_SCHEMA,
  example: '0x4b690d38773522a360b59c42cfd2128d0049b675',
  read: readAddressParam,
};

export const txHashParam: Param<TransactionId> = {
  in: 'path',
  description: 'Hash of a transaction, in any case, or its first signature on Solana.',
  toolText: 'Transaction hash.',
  otherNames: { hash: {}, tx: {}, transaction: {}, transaction_hash: {} },
  required: true,
  schema: TRANSACTION_SCHEMA,
  example: '0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39',
  read: readTransactionParam,
};

export const counterpartyParam: Param<Address | undefined> = {
  in: 'query',
  description: 'Only settlements between the wallet and this address.',
  toolText: 'The other party.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0xa2b5bdcce2494c139e0b8f5b60b44f3c651985e0',
  read: (raw, name, facts) => (raw === undefined ? undefined : readAddressParam(raw, name, facts)),
};

const ROLES = ['payer', 'payee', 'any'] as const;

export const roleParam: Param<(typeof ROLES)[number]> = {
  in: 'query',
  description: 'Only settlements where the wallet is the payer, or the payee. `any` (default) has both.',
  toolText: 'What the wallet was. Default any.',
  required: false,
  schema: Type.Union(
    ROLES.map((role) => Type.Literal(role)),
    { default: 'any' },
  ),
  read: (raw, name) => (raw === undefined ? 'any' : readChoice(raw, name, ROLES)),
};

const FINALITIES = ['finalized', 'any'] as const;

export const finalityParam: Param<FinalityFilter> = {
  in: 'query',
  description:
    '`finalized`: only settlements that no reorg can undo; a chain that has stated no final block contributes none. `any` (default): all. Cursors go with either.',
  toolText: 'finalized: no reorg undoes it.',
  required: false,
  schema: Type.Union(
    FINALITIES.map((finality) => Type.Literal(finality)),
    { default: 'any' },
  ),
  read: (raw, name) => (raw === undefined ? 'any' : readChoice(raw, name, FINALITIES)),
};

const OFFSET_MAX = 10_000;

/** Refused above its maximum, not clamped: a clamped page would silently repeat rows. */
export const offsetParam: Param<number> = {
  in: 'query',
  description: `Rows to skip: \`next_offset\` of the previous page. 0 to ${OFFSET_MAX.toLocaleString('en')}.`,
  toolText: 'Earlier next_offset.',
  required: false,
  schema: Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0 }),
  read: (raw, name) => {
    if (raw === undefined) return 0;
    const whole =
      typeof raw === 'number' ? Number.isSafeInteger(raw) && raw >= 0 : isText(raw) && /^\d{1,30}$/.test(raw);
    if (!whole) throw invalid(name, `${name} must be an integer of 0 or more, not ${quoted(raw)}.`);
    if (Number(raw) > OFFSET_MAX)
      throw invalid(name, `${name} reaches to ${OFFSET_MAX}; use the filters to see what lies beyond.`);
    return Number(raw);
  },
};

export const tierParam: Param<EvidenceTier | undefined> = {
  in: 'query',
  description: 'Only settlements of this evidence tier.',
  toolText: 'Evidence tier.',
  required: false,
  schema: Type.Union(EVIDENCE_TIERS.map((tier) => Type.Literal(tier))),
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, EVIDENCE_TIERS)),
};

export const facilitatorParam: Param<string | undefined> = {
  in: 'query',
  description: 'Only settlements relayed by this facilitator, by id.',
  toolText: 'Id, like coinbase.',
  required: false,
  schema: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  example: 'coinbase',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (isText(raw) && /^[A-Za-z0-9_-]{1,64}$/.test(raw)) return raw;
    throw invalid(name, `${name} must be a facilitator id (letters, digits, - and _), not ${quoted(raw)}.`);
  },
};

export const minProbabilityParam: Param<number | undefined> = {
  in: 'query',
  description:
    'Only settlements at or above this confidence, within [0,1]. Ungraded rows have none and are dropped. Applied after the page is read: follow next_before even from a short page.',
  toolText: 'Only this confidence or more, 0 to 1.',
  required: false,
  schema: Type.Number({ minimum: 0, maximum: 1 }),
  example: 0.7,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const decimal =
      isText(raw) && /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/.test(raw) ? Number(raw) : raw;
    if (typeof decimal === 'number' && decimal >= 0 && decimal <= 1) return decimal;
    throw invalid(name, `${name} must be a number within [0,1], not ${quoted(raw)}.`);
  },
};

export const excludeSelfPaymentsParam = flagParam(
  'Whether to drop rows whose payer is the payee. Applied after the page is read: follow next_before even from a short page.',
  'Drop rows whose payer is the payee.',
);

export const namedOnlyParam = flagParam(
  'Whether to list only relayers that a catalogue names.',
  'Only relayers that a catalogue names.',
);

export const enrichedOnlyParam = flagParam(
  'Whether to list only relayers whose account was read from the chain.',
  'Only relayers whose account was read from the chain.',
);

const CAPABILITY_FIELDS = ['all', 'compact'] as const;

export const capabilityFieldsParam: Param<(typeof CAPABILITY_FIELDS)[number]> = {
  in: 'query',
  description: '`compact`: slug, name and provider_count alone. `all` (default): everything.',
  toolText: 'compact: slug, name and provider_count alone. Default all.',
  required: false,
  schema: Type.Union(
    CAPABILITY_FIELDS.map((fields) => Type.Literal(fields)),
    { default: 'all' },
  ),
  read: (raw, name) => (raw === undefined ? 'all' : readChoice(raw, name, CAPABILITY_FIELDS)),
};

export const capabilitySlugParam: Param<string> = {
  in: 'path',
  description: 'A capability, by its slug as `/capabilities` lists it.',
  toolText: 'A slug of list_capabilities.',
  required: true,
  schema: Type.String({ pattern: '^[a-z0-9-]+$' }),
  example: 'web-search',
  read: (raw, name) => {
    const slugs = CAPABILITIES.map(({ slug }) => slug);
    const slug = slugs.find((known) => known === raw);
    if (slug !== undefined) return slug;
    const meant = isText(raw) ? nearest(raw, slugs) : undefined;
    const hint = meant === undefined ? '/capabilities lists them.' : `Did you mean ${meant}?`;
    throw invalid(
      name,
      raw === undefined ? `${name} is missing. ${hint}` : `${quoted(raw)} is no capability. ${hint}`,
    );
  },
};

/** `capability=…` of a list. */
export function capabilityFilter(of: 'agents' | 'endpoints'): Param<string | undefined> {
  return {
    in: 'query',
    description: `Only ${of} that offer this capability, by its slug as \`/capabilities\` lists it.`,
    toolText: 'A slug of list_capabilities.',
    required: false,
    schema: capabilitySlugParam.schema,
    example: 'web-search',
    read: (raw, name, facts) => (raw === undefined ? undefined : capabilitySlugParam.read(raw, name, facts)),
  };
}

function isText(raw: unknown): raw is string {
  return typeof raw === 'string';
}
