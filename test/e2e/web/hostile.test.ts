import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Accounts, type Accounts as AccountsService, WebServer } from '@cinnabar/sdk';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { receipt } from '../../plugins/accounts/receipt.js';
import { openPersonaHarness, plan } from '../../plugins/persona/harness.js';
import { describeChromium, followSignInLink, launchChromium, pageLoaded } from '../../support/chromium.js';

const ATTACK = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
/** Texts at which Markdown ends and another language could begin. */
const LINK = '[x](javascript:alert(1)) [y](https://a.example/"onmouseover="alert(1)) `<b>`';

/** In the browser: the violations of the page's content security policy. */
const NOTE_VIOLATIONS = `
  window.stopped = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    window.stopped.push(event.violatedDirective + ' ' + event.blockedURI));
`;
/** In the browser: elements and links that only a hostile text can have created, and scripts that ran. */
const FIND_MARKUP = `[
  ...[...document.querySelectorAll('main script, main img[src="x"]')].map((element) => element.outerHTML),
  ...[...document.querySelectorAll('main *')]
    .filter((element) => element.getAttributeNames().some((name) => name.startsWith('on')))
    .map((element) => element.outerHTML),
  ...[...document.links].filter((link) => !['http:', 'https:'].includes(link.protocol)).map((link) => link.href),
  ...(document.title === '1' ? ['a script ran'] : []),
  ...window.stopped,
]`;

describeChromium('hostile words in the dashboard', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  /** Opens pages of a server as its owner, and reports markup from texts, executed scripts, and violations of the policy. */
  const look = async (
    host: TestHost,
    paths: readonly string[],
    shown: (page: Page, path: string) => Promise<unknown>,
  ) => {
    const page = await (await browser.newContext()).newPage();
    const findings: string[] = [];
    page.on('dialog', (dialog) => {
      findings.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.addInitScript(NOTE_VIOLATIONS);
    await followSignInLink(page, host.resolve(WebServer).signInLink(host.you.id));
    for (const path of paths) {
      await page.goto(`${host.resolve(WebServer).url}/g/${host.guild.id}${path}`);
      await pageLoaded(page);
      await shown(page, path);
      const found: unknown = await page.evaluate(FIND_MARKUP);
      if (!Array.isArray(found)) throw new Error('the page could not be searched');
      findings.push(...found.map((one) => `${path}: ${one}`));
    }
    await page.context().close();
    return findings;
  };

  it('are text: of names, roles, settings, messages, requests and audits', async () => {
    await using host = await createTestHost({
      plugins: ['accounts', 'admin', 'ai', 'chat', 'confirm', 'llm', 'party', 'web', 'welcome'],
      env: { CINNABAR_WEB: '0' },
      printErrors: false,
    });
    const { discord, guild, general, you } = host;
    const mallory = discord.createUser({ name: ATTACK });
    guild.join(mallory);
    const role = guild.createRole({ name: ATTACK });
    await host.settled();
    you.say(general, `!set welcome greeting ${ATTACK} ${LINK}`);
    you.say(general, `!access deny party <@${mallory.id}>`);
    you.say(general, `!access deny party <@&${role.id}>`);
    you.say(general, `!prefix add <b>`);
    you.say(general, "!ai add <img src=x onerror=alert(1)> to my party, he's a Solo");
    mallory.say(general, `${ATTACK} ${LINK}`);
    await host.settled();
    await count(host.resolve(Accounts), host, mallory.id);
    const paths = [
      '',
      '/admin/settings?plugin=welcome',
      '/admin/access',
      '/admin/audit',
      '/admin/prefixes',
      '/admin/file',
      '/accounts/cost',
      `/accounts/answers?channel=${general.id}`,
      '/confirm/pending',
      `/admin/audit?what=${encodeURIComponent(ATTACK)}`,
      `/admin/settings?plugin=${encodeURIComponent(ATTACK)}`,
    ];
    const shown = async (page: Page, path: string) => {
      if (/access$|audit$|cost$|answers/.test(path)) await page.getByText('onerror').first().waitFor();
    };
    expect(await look(host, paths, shown)).to.deep.equal([]);
  }).timeout(60_000);

  it('are text: of memories', async () => {
    await using host = await openPersonaHarness(
      [plan([{ action: 'ADD_MEMORY', result: { text: `${ATTACK} ${LINK}`, about: 'alice', importance: 5 } }])],
      { more: ['web'], env: { CINNABAR_WEB: '0' } },
    );
    await host.hears('Remember that', host.alice);
    const shown = (page: Page) => page.getByText('onerror').first().waitFor();
    expect(await look(host, [`/persona/persona?channel=${host.general.id}`], shown)).to.deep.equal([]);
  }).timeout(60_000);
});

/** A receipt with texts from a model and from a member. */
async function count(accounts: AccountsService, host: TestHost, userId: string): Promise<void> {
  const actor = { userId, guildId: host.guild.id, channelId: host.general.id };
  await accounts.record(receipt({ actor, at: host.clock.now(), model: ATTACK, trigger: `${ATTACK} ${LINK}` }));
}
