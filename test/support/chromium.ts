import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** With the value `required`, a missing Chromium is a failure. */
const WISH = 'CINNABAR_TEST_CHROMIUM';
/** The headless shell first: it has no windows, and needs 40 percent less processor time for the same pages. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const folders = (process.env.PATH ?? '').split(delimiter);
const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
  existsSync(path),
);

/** Tests in the Chromium of this machine. Without one they are skipped, with a notice. */
export function describeChromium(title: string, suite: (this: Mocha.Suite) => void): void {
  if (executablePath !== undefined) return void describe(title, suite);
  const reason = 'no chromium on this machine (Debian: apt install chromium-headless-shell)';
  if (process.env[WISH] === 'required') throw new Error(`${title}: ${reason}`);
  process.stderr.write(`left out: ${title}: ${reason}\n`);
}

/** A headless browser. Its sandbox does not support root. */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('there is no chromium on this machine');
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

/** Follows a sign-in link of the dashboard, up to the list of servers. */
export async function followSignInLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Choose a server' }).waitFor();
}

/** Waits for a page of the dashboard with its contents. The palette and several parts of a page load independently, and each of them says so. */
export async function pageLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).filter({ hasText: /./ }).waitFor();
  await page.getByText('Loading …').first().waitFor({ state: 'detached' });
}

/** For `addInitScript`: delays the effects of all rendered components by half a second. */
export const LATE_EFFECTS =
  'const later = setTimeout; setTimeout = (run, ms = 0) => later(run, ms + 500); requestAnimationFrame = (run) => later(run, 500)';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Accessibility problems of a page in both colour schemes. In the second scheme only contrast is checked. The page is dark afterwards.
 * @see https://github.com/dequelabs/axe-core
 */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // The page's policy blocks foreign scripts; the browser's protocol is not subject to it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const violations = async (options: object) => {
    const found: unknown = await page.evaluate(
      `axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))`,
    );
    return Array.isArray(found) ? found.map(String) : [];
  };
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violations({ runOnly: ['color-contrast'] });
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light.map((one) => `light, ${one}`), ...(await violations({}))];
}
