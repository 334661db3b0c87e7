import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Every change of more than one value is one of these scripts: Redis runs it as a whole or not at all. */
const SCRIPTS = {
  addKey: ['add-key'],
  beginReply: ['begin-reply'],
  beginServing: ['begin-serving'],
  capture: ['units-common', 'capture'],
  changePlan: ['change-plan'],
  claimPayment: ['claim-payment'],
  createOrganization: ['create-organization'],
  dropPayment: ['drop-payment'],
  finishReply: ['finish-reply'],
  finishServing: ['finish-serving'],
  giveBackRate: ['give-back-rate'],
  grant: ['units-common', 'grant'],
  hasKey: ['has-key'],
  hold: ['units-common', 'hold'],
  issueKey: ['issue-key'],
  leaveOpen: ['leave-open'],
  readKey: ['read-key'],
  recordSettlement: ['record-settlement'],
  release: ['units-common', 'release'],
  revokeKey: ['revoke-key'],
  takeRate: ['take-rate'],
} as const satisfies Record<string, readonly string[]>;

export type ScriptName = keyof typeof SCRIPTS;

export interface Script {
  readonly lua: string;
  /** What Redis knows it by. */
  readonly sha1: string;
}

export type Scripts = Readonly<Record<ScriptName, Script>>;

/** Reads them from the directory beside this file (`npm run build` copies it). */
export function readScripts(): Scripts {
  const entries = Object.entries(SCRIPTS).map(([name, files]) => {
    const lua = files.map(readLua).join('\n');
    return [name, { lua, sha1: createHash('sha1').update(lua).digest('hex') }];
  });
  // The keys are those of SCRIPTS: Object.entries forgets that.
  return Object.fromEntries(entries) as Scripts;
}

function readLua(file: string): string {
  return readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8');
}
