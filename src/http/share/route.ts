import type { FastifyInstance, FastifyReply } from 'fastify';
import { isAddress, readAddress } from '../../../core/domain/account.ts';
import { DEPLOYMENT_OWNER, type Period } from '../../../core/domain/dashboard.ts';
import { fail } from '../../../core/errors.ts';
import { type BoardDeps, type FoundBoard, visibleBoard } from '../../operations/dashboards/boards.ts';
import { type Glance, glanceOf } from '../../operations/dashboards/glance.ts';
import type { Caller } from '../../operations/deps.ts';
import { installRefusedMethods } from '../methods.ts';
import { createPictures, PICTURE_KEPT_SECONDS, type Picture, type Pictures } from './draw.ts';
import { pictureSvg } from './picture.ts';

/** Pictures that other sites show with a link: of a dashboard that everyone may open, and of a wallet. */

export const NOBODY: Caller = {
  keyPresent: false,
  keyRecognised: null,
  standing: 'anonymous',
  organization: null,
  organizationMissing: false,
  key: null,
};

const PERIOD: Period = '30d';
const BOARD_PATH = '/og/dashboards/:owner/:file';
const WALLET_PATH = '/og/wallets/:file';
const ENDING = '.png';

interface ShareOptions {
  readonly deps: BoardDeps;
  /** In place of the product’s own. */
  readonly pictures?: Pictures;
}

export function installShare(
  app: FastifyInstance,
  { deps, pictures = createPictures() }: ShareOptions,
): void {
  app.get<{ Params: { owner: string; file: string } }>(BOARD_PATH, async ({ params }, reply) => {
    const asked = { owner: params.owner, slug: nameOf(params.file), token: undefined };
    const found = await visibleBoard(asked, deps, NOBODY);
    const name = JSON.stringify(['board', found.board.owner, found.board.slug, found.board.updatedAtMs]);
    return send(reply, await pictures.png(name, async () => drawn(await ofBoard(found, deps))));
  });
  app.get<{ Params: { file: string } }>(WALLET_PATH, async ({ params }, reply) => {
    const wallet = readAddress(nameOf(params.file));
    if (!isAddress(wallet)) throw fail('not_found', { detail: 'There is no picture of this name.' });
    return send(
      reply,
      await pictures.png(`wallet ${wallet}`, async () => drawn(await ofWallet(wallet, deps))),
    );
  });
  for (const path of [BOARD_PATH, WALLET_PATH]) installRefusedMethods(app, path);
}

function drawn(glance: Glance): Picture {
  return { svg: pictureSvg(glance), isWhole: glance.isWhole };
}

function nameOf(file: string): string {
  if (file.endsWith(ENDING)) return file.slice(0, -ENDING.length);
  throw fail('not_found', { detail: 'There is no picture of this name.' });
}

function send(reply: FastifyReply, png: Buffer): FastifyReply {
  return reply
    .header('cache-control', `public, max-age=${PICTURE_KEPT_SECONDS}`)
    .header('cross-origin-resource-policy', 'cross-origin')
    .type('image/png')
    .send(png);
}

async function ofBoard(found: FoundBoard, deps: BoardDeps): Promise<Glance> {
  const { title, description } = found.board.content;
  const choice = { period: PERIOD, chain: undefined, wallet: undefined };
  return { title, subtitle: subtitleOf(description), ...(await glanceOf(found, choice, deps)) };
}

async function ofWallet(wallet: string, deps: BoardDeps): Promise<Glance> {
  const found = await visibleBoard(
    { owner: DEPLOYMENT_OWNER, slug: 'seller', token: undefined },
    deps,
    NOBODY,
  );
  const choice = { period: PERIOD, chain: undefined, wallet };
  return {
    title: shortWallet(wallet),
    subtitle: 'What this wallet was paid over x402 in the last 30 days.',
    ...(await glanceOf(found, choice, deps)),
  };
}

function subtitleOf(description: string): string {
  const line = description.split('\n', 1)[0] ?? '';
  return line === '' ? 'Settlement Index, the last 30 days' : `${line} The last 30 days.`;
}

const EDGE_CHARS = 6;

export function shortWallet(wallet: string): string {
  return `${wallet.slice(0, 2 + EDGE_CHARS)}…${wallet.slice(-EDGE_CHARS)}`;
}
