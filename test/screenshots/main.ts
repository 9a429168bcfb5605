/**
 * `npm run screenshots`: takes pictures of the local Discord's page and of the dashboard, with new demo data, into `docs/images`. It needs a Chromium on this
 * machine, and a font with emoji.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, loadConfig } from '@cinnabar/core';
import { type LocalChannel, startLocalDiscord } from '@cinnabar/local-discord';
import { WebServer } from '@cinnabar/sdk';
import type { Browser, Page } from 'playwright-core';
import { followSignInLink, launchChromium } from '../support/chromium.js';

const OUT = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
const PAGE = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));
const VIEWS = {
  dark: { colorScheme: 'dark', viewport: { width: 1200, height: 750 } },
  light: { colorScheme: 'light', viewport: { width: 1200, height: 750 } },
  phone: { colorScheme: 'dark', viewport: { width: 390, height: 780 } },
} as const;
/** Time for pictures and updates from event streams. */
const CALM_MS = 600;

async function openDemo() {
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-screenshots-'));
  const discord = await startLocalDiscord({ users: { page: PAGE } });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const general = guild.createChannel({ name: 'general' });
  guild.createChannel({ name: 'maps' });
  const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
  guild.join(alice);
  guild.join(bob);
  const config = { ...loadConfig(folder, { CINNABAR_DATA: folder, CINNABAR_WEB: '0' }), discordApi: discord.api };
  const host = createHost({ config: { ...config, token: application.token } });
  await host.start(application.token);
  return {
    discord,
    host,
    guild,
    general,
    you,
    alice,
    bob,
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until the bot has sent that number of messages in a channel. */
async function answered(channel: LocalChannel, botId: string, count: number): Promise<void> {
  while (channel.messages.filter(({ author }) => author.id === botId).length < count)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(CALM_MS);
  await page.screenshot({ path: join(OUT, `${name}.png`) });
  process.stdout.write(`docs/images/${name}.png\n`);
}

async function takeAll(browser: Browser): Promise<void> {
  await using demo = await openDemo();
  const { discord, host, guild, general, you, alice, bob } = demo;
  const bot = host.resolve(WebServer);
  const botId = [...guild.members.values()].find(({ user }) => user.bot)?.user.id ?? '';
  alice.say(general, 'Is everybody in for **tonight**? We meet at `20:00`.');
  bob.say(general, 'I am 🎉');
  you.say(general, '!set confirm timeLimit 3600');
  await answered(general, botId, 1);
  alice.say(general, '!ai remind me in 2 hours to feed the cat');
  await answered(general, botId, 2);
  you.say(general, '!access deny party @bob');
  await answered(general, botId, 3);
  you.say(general, "!ai add V to my party, he's a Solo");
  await answered(general, botId, 4);
  for (const [name, view] of Object.entries(VIEWS)) {
    const context = await browser.newContext(view);
    const page = await context.newPage();
    await page.goto(discord.clientAddress(you));
    await page.getByText('Confirmation Required').first().waitFor();
    await take(page, `client-${name}`);
    await followSignInLink(page, bot.signInLink(you.id));
    await page.goto(`${bot.url}/g/${guild.id}`);
    await page.getByRole('heading', { name: guild.name }).waitFor();
    await take(page, `dashboard-${name}`);
    await page.goto(`${bot.url}/g/${guild.id}/admin/settings?plugin=confirm`);
    await page.getByLabel('timeLimit').waitFor();
    await take(page, `settings-${name}`);
    await context.close();
  }
}

const browser = await launchChromium();
await takeAll(browser);
await browser.close();
