import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Set to `required` where its absence is a failure. */
const WISH = 'CINNABAR_TEST_CHROMIUM';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Tests in the Chromium of this machine; left out, with a line that says so, where there is none. */
export function describeChromium(title: string, suite: (this: Mocha.Suite) => void): void {
  if (executablePath !== undefined) return void describe(title, suite);
  const reason = 'no chromium on this machine (Debian: apt install chromium)';
  if (process.env[WISH] === 'required') throw new Error(`${title}: ${reason}`);
  process.stderr.write(`left out: ${title}: ${reason}\n`);
}

/** A browser without a window. Its sandbox needs a user that is not root. */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('there is no chromium on this machine');
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

/** Follows a link of the dashboard that signs somebody in, up to the choice of a server. */
export async function followSignInLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Choose a server' }).waitFor();
}

/** For `addInitScript`: a browser in which everything that is drawn runs its effects half a second late. */
export const LATE_EFFECTS =
  'const later = setTimeout; setTimeout = (run, ms = 0) => later(run, ms + 500); requestAnimationFrame = (run) => later(run, 500)';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What a page does wrong, in both colour schemes, for people who use it without eyes, or without a mouse. Only contrast differs between the schemes. The page
 * is dark afterwards.
 * @see https://github.com/dequelabs/axe-core
 */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // The page's own policy admits no foreign script; the protocol of the browser does.
  await page.evaluate(AXE);
  const violations = async (options: object) => {
    const found: unknown = await page.evaluate(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))`,
    );
    return Array.isArray(found) ? found.map(String) : [];
  };
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violations({ runOnly: ['color-contrast'] });
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light.map((one) => `light, ${one}`), ...(await violations({}))];
}
