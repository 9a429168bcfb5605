import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { WebServer, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import {
  accessibilityProblems,
  describeChromium,
  followSignInLink,
  LATE_EFFECTS,
  launchChromium,
  pageLoaded,
} from '../../support/chromium.js';

const PLUGINS = fileURLToPath(new URL('../../../../plugins', import.meta.url));
const all = () =>
  readdirSync(PLUGINS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const DESK = { viewport: { width: 1280, height: 860 } };
const PHONE = { viewport: { width: 390, height: 844 } };

describeChromium('the dashboard in a browser', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const start = (plugins: readonly string[]) =>
    createTestHost({ plugins, env: { CINNABAR_WEB: '0' }, printErrors: false });

  /** A separate browser with a signed-in user. */
  const visit = async (
    host: TestHost,
    userId: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> => {
    const page = await (await browser.newContext(options)).newPage();
    await followSignInLink(page, host.resolve(WebServer).signInLink(userId));
    return page;
  };
  /** @returns a function that releases the held requests */
  const holdBack = async (page: Page, url: string): Promise<() => void> => {
    const gate = new AbortController();
    const opened = once(gate.signal, 'abort');
    await page.route(url, async (route) => {
      await opened;
      await route.continue();
    });
    return () => gate.abort();
  };
  const open = async (page: Page, host: TestHost, path: string) => {
    await page.goto(`${host.resolve(WebServer).url}/g/${host.guild.id}${path}`);
  };

  it('is a way from the link to a server, its pages, and out again', async () => {
    await using host = await start(['admin', 'web']);
    const page = await visit(host, host.you.id);
    await page.getByRole('link', { name: host.guild.name }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Plugins' }).click();
    await page.getByRole('heading', { name: 'Plugins' }).waitFor();
    await page.getByText('you', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You need a link to sign in.').waitFor();
  });

  it('switches a plugin on, and says why a value of a setting is refused', async () => {
    await using host = await start(['admin', 'welcome', 'chat', 'llm', 'ai', 'web']);
    const page = await visit(host, host.you.id);
    await open(page, host, '/admin/plugins');
    const welcome = page.getByRole('row', { name: /welcome/ });
    await welcome.getByRole('button', { name: 'Switch on' }).click();
    await welcome.getByRole('button', { name: 'Switch off' }).waitFor();
    expect(host.plugins.enabledIn(host.guild.id, 'welcome')).to.equal(true);

    await open(page, host, '/admin/settings?plugin=chat');
    const field = page.getByLabel('continuationModel');
    await field.fill('x'.repeat(300));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).to.match(/200/);
    expect(await field.inputValue(), 'what was typed stays').to.have.length(300);
  });

  it('marks the one field whose value was refused, says why beside it, and goes to it', async () => {
    await using host = await start(['admin', 'accounts', 'web']);
    const page = await visit(host, host.you.id);
    await open(page, host, '/accounts/budgets');
    const form = page.locator('form').filter({ has: page.getByRole('heading', { name: 'Set a limit' }) });
    const [amount, unit] = [form.getByLabel('At most'), form.getByLabel('Unit')];
    await amount.fill('5');
    // A request that the current page does not send, as from an outdated page.
    await page.route('**/acts/set**', (route) => {
      const { input } = z.object({ input: z.record(z.string(), z.unknown()) }).parse(route.request().postDataJSON());
      return route.continue({ postData: JSON.stringify({ input: { ...input, amount: -1 } }) });
    });
    await unit.focus();
    await form.getByRole('button', { name: 'Set the limit' }).click();
    const alert = form.getByRole('alert');
    await alert.waitFor();
    expect(await form.locator('[aria-invalid="true"]').count()).to.equal(1);
    expect(await amount.getAttribute('aria-invalid')).to.equal('true');
    expect(await amount.getAttribute('aria-describedby')).to.include(await alert.getAttribute('id'));
    expect(await page.evaluate('document.activeElement.name'), 'focused').to.equal('amount');
    await page.unroute('**/acts/set**');
    await form.getByRole('button', { name: 'Set the limit' }).click();
    await alert.waitFor({ state: 'detached' });
    expect(await form.locator('[aria-invalid="true"]').count()).to.equal(0);
  });

  it('takes back what was switched, set, added or removed, while it says so', async () => {
    await using host = await start(['admin', 'ai', 'chat', 'confirm', 'llm', 'party', 'welcome', 'web']);
    host.you.say(host.general, '!access deny party @alice');
    await host.settled();
    const page = await visit(host, host.you.id);
    const undo = () => page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await open(page, host, '/admin/plugins');
    const party = page.getByRole('row', { name: /party/ });
    await party.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await party.getByText('off', { exact: true }).waitFor();
    await undo();
    await party.getByText('on', { exact: true }).waitFor();

    await open(page, host, '/admin/settings?plugin=confirm');
    const limit = page.getByLabel('timeLimit');
    const before = await limit.inputValue();
    await limit.fill('120');
    await page.keyboard.press('Enter');
    await page
      .getByText('`120`')
      .or(page.getByText(/is 120/))
      .first()
      .waitFor();
    await undo();
    await page.getByText('back to the default').waitFor();
    expect(await limit.inputValue()).to.equal(before);

    await open(page, host, '/admin/prefixes');
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByText('Remove the prefix').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('cell', { name: '!' }).waitFor({ state: 'detached' });
    await undo();
    await page.getByRole('cell', { name: '!' }).waitFor();

    await open(page, host, '/admin/access');
    await page.getByRole('button', { name: 'Remove', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This server has no access rules').waitFor();
    await undo();
    await page.getByRole('row', { name: /deny/ }).waitFor();
  });

  it('decides a confirmation, for the member who asked alone, while the page follows', async () => {
    await using host = await start(all());
    const { alice, bob, general } = host;
    const [hers, his] = [await visit(host, alice.id), await visit(host, bob.id)];
    await open(hers, host, '/confirm/pending');
    await hers.getByText('Nothing is waiting for your confirmation.').waitFor();
    alice.say(general, '!ai add V to my party, he’s a Solo');
    await host.settled();
    await host.advance(2_500);
    await host.advance(1_500);
    await hers.getByRole('button', { name: /Confirm/ }).waitFor();
    await open(his, host, '/confirm/pending');
    await his.getByText('Nothing is waiting for your confirmation.').waitFor();
    await hers.getByRole('button', { name: /Confirm/ }).click();
    await hers.getByText('Nothing is waiting for your confirmation.').waitFor();
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /V/ });
    alice.say(general, '!ai show my party');
    await host.settled();
    expect(general.messages.map(({ content }) => content).join('\n')).to.match(/Solo/);
  });

  it('can be used with the keyboard alone', async () => {
    await using host = await start(['admin', 'web']);
    const page = await visit(host, host.you.id);
    await open(page, host, '');
    await page.getByRole('heading', { name: host.guild.name }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('prefi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Prefixes' }).waitFor();
    await page.getByLabel('Prefix', { exact: true }).focus();
    await page.keyboard.type('?');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: '?' }).waitFor();
    expect(await page.getByRole('status').textContent()).to.match(/Commands start with/);
  });

  it('listens to the keyboard from the first moment, in a slow browser too', async () => {
    await using host = await start(['admin', 'web']);
    const page = await visit(host, host.you.id);
    await page.addInitScript(LATE_EFFECTS);
    await open(page, host, '');
    await page.getByRole('heading', { name: host.guild.name }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('prefi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Prefixes' }).waitFor();
  });

  it('goes where Enter leads, even if it is pressed before the pages have loaded', async () => {
    await using host = await start(['admin', 'web']);
    const page = await visit(host, host.you.id);
    const release = await holdBack(page, '**/api/pages?*');
    await open(page, host, '');
    await page.getByRole('heading', { name: host.guild.name }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('prefi');
    await page.keyboard.press('Enter');
    release();
    await page.getByRole('heading', { name: 'Prefixes' }).waitFor();
  });

  it('chooses by Enter among the results of the whole search, even if they come later', async () => {
    await using host = await start(['admin', 'welcome', 'web']);
    host.guild.createChannel({ name: 'arrivals' });
    host.guild.createChannel({ name: 'newcomers' });
    await host.settled();
    await host.plugins.enable(host.guild.id, 'welcome');
    const page = await visit(host, host.you.id);
    const release = await holdBack(page, '**/api/choices?*search=newc');
    await open(page, host, '/admin/settings?plugin=welcome');
    const channel = page.getByRole('combobox', { name: /^channel/ });
    await channel.focus();
    await page.getByRole('option', { name: 'arrivals' }).waitFor();
    await channel.fill('newc');
    await page.keyboard.press('Enter');
    release();
    await page.getByRole('status').getByText('channel of welcome is #newcomers').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Remove newcomers' }).waitFor();
  });

  it('opens a server from the list of all of them, by a press anywhere in its row and with the keyboard', async () => {
    await using host = await start(['admin', 'web']);
    const page = await visit(host, host.you.id);
    const { url } = host.resolve(WebServer);
    const row = page.getByRole('row', { name: new RegExp(host.guild.id) });
    for (const open of [
      () => row.getByText(host.guild.id).click({ force: true }),
      () => page.keyboard.press('Enter'),
    ]) {
      await page.goto(`${url}/bot/admin/servers`);
      await row.getByRole('link').focus();
      await open();
      await page.waitForURL(`${url}/g/${host.guild.id}`);
      await page.getByRole('heading', { name: host.guild.name }).waitFor();
    }
  });

  it('is no wider than a phone, on any page', async () => {
    await using host = await start(all());
    const page = await visit(host, host.you.id, PHONE);
    const { url = '' } = host.resolve(WebServer);
    const places = [
      { address: `/g/${host.guild.id}`, query: `?guild=${host.guild.id}` },
      { address: '/bot', query: '' },
    ];
    for (const { address, query } of places) {
      const { pages } = await (await page.request.get(`${url}/api/pages${query}`)).json();
      const shown = z.array(z.object({ id: z.string(), group: z.string() })).parse(pages);
      for (const { id } of shown.filter(({ group }) => group !== 'hidden')) {
        await page.goto(`${url}${address}/${id}`);
        await pageLoaded(page);
        const isWider = await page.evaluate(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        expect(isWider, id).to.equal(false);
      }
    }
  }).timeout(120_000);

  it('has nothing that axe objects to, dark, light and on a phone', async () => {
    await using host = await start(all());
    const paths = [
      '',
      '/admin/plugins',
      '/admin/settings?plugin=chat',
      '/admin/access',
      '/admin/audit',
      '/accounts/cost',
      '/accounts/budgets',
      '/tasks/tasks',
    ];
    const page = await visit(host, host.you.id);
    for (const path of paths) {
      await open(page, host, path);
      await pageLoaded(page);
      for (const { viewport } of [DESK, PHONE]) {
        await page.setViewportSize(viewport);
        expect(await accessibilityProblems(page), `${viewport.width} ${path}`).to.deep.equal([]);
      }
    }
  }).timeout(120_000);
});
