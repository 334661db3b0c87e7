import { Type } from '@sinclair/typebox';
import { WINDOWS, type Window } from '../../../core/domain/window.ts';
import { capabilityFilter } from '../common-params.ts';
import { flagParam, invalid, type Param, quoted } from '../params.ts';
import { oneOf } from '../shapes.ts';
import { ORDERS, type Order, ordersText, type RankedSubject, SUBJECTS } from './orders.ts';

const COUNTERPARTIES_MAX = 1_000_000;

/** The words of an earlier release. */
const OLDER_ORDERS: Readonly<Record<string, Order>> = { rating: 'score', paid: 'paid_score' };

function choiceParam<Choice extends string>(
  choices: readonly Choice[],
  words: Pick<Param, 'description' | 'toolText' | 'example'>,
): Param<Choice | undefined> {
  return {
    in: 'query',
    ...words,
    required: false,
    schema: oneOf(choices),
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      const choice = choices.find((known) => known === raw);
      if (choice !== undefined) return choice;
      throw invalid(name, `${name} must be one of ${choices.join(', ')}, not ${quoted(raw)}.`);
    },
  };
}

export const rankedOfParam: Param<RankedSubject | undefined> = choiceParam(SUBJECTS, {
  description: 'What is ranked. Default: agents.',
  toolText: 'Default agents.',
  example: 'merchants',
});

const orderParam = choiceParam(ORDERS, {
  description: `What ranks; each of these can be ranked by: ${ordersText()}. Default: the first one. \`growth\` is the gain in organic dollars over the window before. \`rating\` and \`paid\` are older words for score and paid_score.`,
  toolText: 'Default: score, organic_usd of wallets, else settlements.',
  example: 'organic_usd',
});

export const rankedByParam: Param<Order | undefined> = {
  ...orderParam,
  schema: oneOf([...ORDERS, ...Object.keys(OLDER_ORDERS)]),
  read: (raw, name, facts) =>
    typeof raw === 'string' && Object.hasOwn(OLDER_ORDERS, raw)
      ? OLDER_ORDERS[raw]
      : orderParam.read(raw, name, facts),
};

export const rankedWindowParam: Param<Window | undefined> = choiceParam(WINDOWS, {
  description:
    'The payments that count: those of the last 24 hours, 7, 30 or 90 times 24 hours, or all. Default: 30d; ratings are always of all time.',
  toolText: 'Default 30d; ratings: all.',
  example: '7d',
});

export const rankedCapabilityParam: Param<string | undefined> = {
  ...capabilityFilter('endpoints'),
  component: 'RankedCapability',
  description:
    'Only agents, merchants or endpoints that offer this capability, by its slug as `/capabilities` lists it. A merchant offers what the resources that are paid at it, or the agents paid at it, offer.',
};

const NAME_MAX_CHARS = 100;

export const merchantNameParam: Param<string | undefined> = {
  in: 'query',
  description: `Only merchants whose name has this text, in any case: as the catalogue of the deployment, a listing or the card of its agent names them. Up to ${NAME_MAX_CHARS} characters.`,
  toolText: 'Its name.',
  required: false,
  schema: Type.String({ maxLength: NAME_MAX_CHARS }),
  example: 'weather',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const part = typeof raw === 'string' ? raw.trim() : '';
    if (part !== '' && part.length <= NAME_MAX_CHARS) return part;
    throw invalid(name, `${name} must be a text of 1 to ${NAME_MAX_CHARS} characters, not ${quoted(raw)}.`);
  },
};

export const minCounterpartiesParam: Param<number> = {
  in: 'query',
  description:
    'Only rows with so many different counterparties in the window: other wallets in organic payments; of ratings the clients that gave them; of facilitators the wallets they served; of endpoints the payers; of capabilities the addresses that were paid.',
  toolText: 'Least counterparties.',
  required: false,
  schema: Type.Integer({ minimum: 0, default: 0 }),
  example: 5,
  read: (raw, name) => {
    if (raw === undefined) return 0;
    const number = typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : raw;
    if (Number.isSafeInteger(number) && Number(number) >= 0 && Number(number) <= COUNTERPARTIES_MAX)
      return Number(number);
    throw invalid(name, `${name} must be an integer from 0 to ${COUNTERPARTIES_MAX}, not ${quoted(raw)}.`);
  },
};

export const includeFlaggedParam: Param<boolean> = flagParam(
  'Whether wallets whose payments of the window are judged `suspect` stay in the ranking. Rankings by score, of facilitators and of capabilities leave none out.',
  'Keep suspect wallets.',
);
