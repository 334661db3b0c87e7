import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** Keeps a picture of the page for people to look at, in the directory that CONSOLE_PICTURES names; without it, none is taken. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env['CONSOLE_PICTURES'];
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: `${directory}/${name}.png` });
}
