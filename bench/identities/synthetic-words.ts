import { type Sql, sql, text, texts, uint32 } from '../../clickhouse/engine/sql.ts';

/**
 * Words of names and descriptions, made inside the engine: log-uniform ranks over 4,000 words, so that one word in twelve is the
 * commonest one, as in real prose. The first ones are words that agents' cards are full of, the others are syllables.
 */

const WORDS = 4_000;
/** By rank. `COMMON_WORD` is the first, in most of the texts. */
const FREQUENT =
  'agent,the,for,and,data,with,your,trading,assistant,on,autonomous,market,analysis,chain,token,service,api,research,real,time,wallet,defi,content,search,price,automation,image,x402,payments,tools'.split(
    ',',
  );
const SYLLABLES =
  'ba,ce,di,fo,gu,ka,le,mi,no,pu,ra,se,ti,vo,xu,za,bre,cli,dro,fra,gle,kri,plo,sta,tre,vin,mar,sol,ten,rix'.split(
    ',',
  );

/** In the words of most cards. */
export const COMMON_WORD = 'agent';
/** In the descriptions of one agent in 31,250 that has a card. */
export const RARE_WORD = 'xylotheque';
/** In none. */
export const ABSENT_WORD = 'qwertzuiopuel';
const RARE_EVERY = 31_250;
const RARE_EVERY_QUICK_ROWS = 100_000;

/** Which agents carry the rare word, of `agents`; a handful in small data too. */
function rareEvery(agents: number): number {
  return agents < RARE_EVERY_QUICK_ROWS ? Math.floor(agents / 16) : RARE_EVERY;
}

/** `[0, 1)`, by row and purpose. */
export function uniform(row: Sql, purpose: number): Sql {
  return sql`(sipHash64(${row}, ${uint32(purpose)}) / 18446744073709551616.)`;
}

/** 1 to `ranks`, the k-th as often as 1/k: a few are in most of the rows, most are in a few. */
export function logUniform(row: Sql, purpose: number, ranks: number): Sql {
  return sql`toUInt32(exp(${uniform(row, purpose)} * ln(${uint32(ranks)})))`;
}

/** `atLeast` to `atLeast + spread - 1` words, other ones for each row and purpose. */
export function words(row: Sql, purpose: number, atLeast: number, spread: number): Sql {
  const syllable = (turn: number): Sql =>
    sql`${texts(SYLLABLES)}[1 + sipHash64(rank, ${uint32(turn)}) % ${uint32(SYLLABLES.length)}]`;
  const made = sql`concat(${syllable(1)}, ${syllable(2)}, if(rank % 3 = 0, '', ${syllable(3)}))`;
  const word = sql`if(rank <= ${uint32(FREQUENT.length)}, ${texts(FREQUENT)}[rank], ${made})`;
  return sql`arrayStringConcat(arrayMap(rank -> ${word},
    arrayMap(place -> toUInt32(exp(sipHash64(${row}, ${uint32(purpose)}, place) / 18446744073709551616. * ln(${uint32(WORDS)}))),
      range(${uint32(atLeast)} + sipHash64(${row}, ${uint32(purpose)}) % ${uint32(spread)}))), ' ')`;
}

/** The description of agent `row` of `agents`: 8 to 27 words, with the rare one where it belongs. */
export function description(row: Sql, purpose: number, agents: number): Sql {
  const every = rareEvery(agents);
  return sql`concat(${words(row, purpose, 8, 20)}, if(${row} % ${uint32(every)} = 5, ${text(` ${RARE_WORD}`)}, ''))`;
}
