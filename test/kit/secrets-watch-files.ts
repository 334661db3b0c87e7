import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the watch of one run keeps its two sides; what stands in `secrets` is never searched. */
export interface WatchDirectories {
  /** One secret per line, a file per process of the tests. */
  readonly secrets: string;
  /** Everything that processes under test wrote. */
  readonly written: string;
}

export interface Leak {
  readonly file: string;
  /** The start of the secret, enough to find who registered it. */
  readonly secret: string;
  /** What stands around it, with the secret cut out. */
  readonly around: string;
}

/** Shorter texts appear by chance. */
const PART_MIN_CHARS = 12;
const SHOWN_CHARS = 4;
const AROUND_CHARS = 120;
const WORD_CHARS = 64;
/** API keys and signed tokens are found by their shape too, so that a test that forgot to register one is no hole. */
const SECRET_SHAPE = /six_(?:live|trial)_[0-9A-Za-z]{43}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{40,}/g;

/**
 * The texts that give a secret away, each by itself: a signature is spendable as r and s, as libraries print it; a URL by its
 * password; a token by its signature; a payment header by the signature inside. Throws for a secret too short to be searched.
 */
export function partsOf(secret: string): readonly string[] {
  const parts = [...hexParts(secret), ...urlParts(secret), ...tokenParts(secret), ...paymentParts(secret)];
  const found = parts.length > 0 ? parts : [secret];
  const short = found.find((part) => part.length < PART_MIN_CHARS);
  if (short !== undefined) throw new Error(`a secret of ${short.length} characters cannot be searched for`);
  return found.map((part) => part.toLowerCase());
}

function hexParts(secret: string): readonly string[] {
  const digits = /^0x([0-9a-f]+)$/i.exec(secret)?.[1];
  if (digits === undefined) return [];
  return digits.length === 130
    ? [digits.slice(0, WORD_CHARS), digits.slice(WORD_CHARS, 2 * WORD_CHARS)]
    : [digits];
}

function urlParts(secret: string): readonly string[] {
  if (!/^[a-z]+:\/\//i.test(secret) || !URL.canParse(secret)) return [];
  const { password, username } = new URL(secret);
  const word = password === '' ? username : password;
  return word === '' ? [secret] : [word, decodeURIComponent(word)];
}

function tokenParts(secret: string): readonly string[] {
  const [, , signature] = secret.split('.');
  return secret.startsWith('eyJ') && signature !== undefined ? [signature] : [];
}

function paymentParts(secret: string): readonly string[] {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(secret)) return [];
  const signature = /"signature":"(0x[0-9a-fA-F]+)"/.exec(
    Buffer.from(secret, 'base64').toString('utf8'),
  )?.[1];
  if (signature === undefined) return [];
  // Tests also send signatures that are none.
  const parts = hexParts(signature).filter((part) => part.length >= PART_MIN_CHARS && !/^(.)\1+$/.test(part));
  return [secret, ...parts];
}

/** What the registered secrets, and texts in the shape of a key, do in what was written. */
export function findLeaks(directories: WatchDirectories): {
  readonly leaks: readonly Leak[];
  readonly secrets: number;
  readonly bytes: number;
} {
  const parts = new Set(readAll(directories.secrets).flatMap(({ text }) => text.split('\n').filter(Boolean)));
  const written = readAll(directories.written);
  const leaks = written.flatMap(({ file, text }) => {
    const lower = text.toLowerCase();
    const shapes = [...text.matchAll(SECRET_SHAPE)].map(([shape]) => shape.toLowerCase());
    const present = [...parts].filter((part) => lower.includes(part));
    const found = [...new Set([...present, ...shapes])];
    return found.map((secret) => leakOf(file, lower, { secret, found }));
  });
  return { leaks, secrets: parts.size, bytes: written.reduce((sum, { text }) => sum + text.length, 0) };
}

function leakOf(
  file: string,
  text: string,
  { secret, found }: { readonly secret: string; readonly found: readonly string[] },
): Leak {
  const at = text.indexOf(secret);
  const from = Math.max(0, at - AROUND_CHARS);
  const around = text.slice(from, at + secret.length + AROUND_CHARS);
  const hidden = found.reduce((line, one) => line.replaceAll(one, '[THE SECRET]'), around);
  return { file, secret: `${secret.slice(0, SHOWN_CHARS)}…`, around: hidden };
}

/** Bytes as characters: databases and logs alike. */
function readAll(directory: string): readonly { readonly file: string; readonly text: string }[] {
  return readdirSync(directory).map((file) => ({
    file,
    text: readFileSync(join(directory, file), 'latin1'),
  }));
}
