import { fileURLToPath } from 'node:url';
import { createManualClock, createTestHost, type TestHost } from '@cinnabar/core/testing';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin, WebServer, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openPersonaHarness, plan } from '../../plugins/persona/harness.js';
import { askUser, done, openTaskHarness } from '../../plugins/tasks/harness.js';
import { describeChromium, followSignInLink, launchChromium } from '../../support/chromium.js';

const localClient = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));
const WEB = { CINNABAR_WEB: '0' };
const MINUTE_MS = 60_000;

/** A command whose option has suggestions, and which opens a form. */
const guestBook = definePlugin({
  manifest: { id: 'guest-book', version: '1.0.0', description: 'A guest book' },
  setup({ command, component }) {
    const page = component({
      name: 'page',
      async run(interaction, [guest = '']) {
        if (!interaction.isModalSubmit()) return;
        const words = interaction.fields.getTextInputValue('words');
        await interaction.reply(`${guest} wrote: ${words}`);
      },
    });
    const open = component({
      name: 'open',
      async run(interaction, [guest = '']) {
        if (interaction.isModalSubmit()) return;
        await interaction.showModal({
          custom_id: page.customId(guest),
          title: 'Guest book',
          components: [
            { type: 1, components: [{ type: 4, custom_id: 'words', label: 'What do you think of it?', style: 2 }] },
          ],
        });
      },
    });
    command({
      name: 'sign',
      description: 'Signs the guest book',
      options: { guest: z.enum(['V', 'Judy', 'Panam']).describe('Who signs') },
      run: (ctx, { guest }) =>
        ctx.reply({
          content: `The page of ${guest}`,
          components: [
            { type: 1, components: [{ type: 2, style: 1, label: 'Write', custom_id: open.customId(guest) }] },
          ],
        }),
    });
  },
});

describeChromium('stories in a browser', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const visit = async (host: TestHost, userId: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await followSignInLink(page, host.resolve(WebServer).signInLink(userId));
    return page;
  };
  const addressOf = (host: TestHost, path: string) => `${host.resolve(WebServer).url}/g/${host.guild.id}/${path}`;

  it('a slash command with hints, and a form that it opens', async () => {
    const clock = createManualClock();
    await using discord = await startLocalDiscord({ users: { page: localClient } });
    const you = discord.createUser({ name: 'you' });
    const guild = discord.createGuild({ name: 'Night City', owner: you });
    const [alice, bob] = [discord.createUser({ name: 'alice' }), discord.createUser({ name: 'bob' })];
    for (const member of [alice, bob]) guild.join(member);
    const general = guild.createChannel({ name: 'general' });
    const application = discord.createApplication({ name: 'Cinnabar', owner: you });
    guild.invite(application);
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using host = await createTestHost({ plugins: ['admin', guestBook], world });
    await host.settled();
    const window = await (await browser.newContext()).newPage();
    await window.goto(discord.clientAddress(alice));
    const box = window.getByRole('textbox', { name: 'Message #general' });
    await box.fill('/sig');
    await window.getByRole('option', { name: /\/sign/ }).waitFor();
    await window.keyboard.press('Enter');
    const form = window.getByRole('form', { name: '/sign' });
    await form.getByText('Who signs').waitFor();
    await form.getByLabel('guest').selectOption('Judy');
    await form.getByRole('button', { name: 'Send' }).click();
    await window.getByText('The page of Judy').waitFor();
    await window.getByRole('button', { name: 'Write' }).click();
    const dialog = window.getByRole('dialog', { name: 'Guest book' });
    await dialog.getByLabel('What do you think of it?').fill('Nova!\nI come again.');
    await dialog.getByRole('button', { name: 'Submit' }).click();
    await window.getByText('Judy wrote: Nova!').waitFor();
    await dialog.waitFor({ state: 'hidden' });
  });

  it('a task is answered, seen again after being away, and stopped', async () => {
    await using harness = await openTaskHarness({
      steps: [askUser('How many guests?'), askUser('Which wine?'), done('Set.')],
      plugins: ['admin', 'web'],
      env: WEB,
    });
    const { host } = harness;
    const page = await visit(host, host.alice.id);
    const { id } = await harness.give('Set the table');
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);
    await page.goto(addressOf(host, 'tasks/tasks'));
    await page
      .getByRole('row', { name: /Set the table/ })
      .getByRole('link')
      .click();
    await page.getByText('How many guests?', { exact: true }).waitFor();
    await page.getByLabel('Your answer').fill('Seven');
    await page.getByRole('button', { name: 'Answer' }).click();
    await harness.when(id, ({ pendingQuestion }) => pendingQuestion?.text === 'Which wine?');
    // The page updates itself within a second.
    await host.advance(1_500);
    await page.getByText('Which wine?', { exact: true }).waitFor();

    await page.goto('about:blank');
    await host.advance(10 * MINUTE_MS);
    await page.goto(addressOf(host, 'tasks/tasks'));
    await page
      .getByRole('row', { name: /Set the table/ })
      .getByRole('link')
      .click();
    await page.getByText('Which wine?', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByText('Stop this task?').waitFor();
    expect((await harness.tasks.get(id))?.status, 'before the answer').to.equal('waiting_user');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await harness.over(id);
    await host.advance(1_500);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Your answer').count(), 'nothing is asked any more').to.equal(0);
    expect((await harness.tasks.get(id))?.status).to.equal('cancelled');
  });

  it('a memory is found, corrected by whom it is about, and forgotten; others do not see it', async () => {
    await using host = await openPersonaHarness(
      [plan([{ action: 'ADD_MEMORY', result: { text: 'Alice has a cat.', about: 'alice', importance: 5 } }])],
      { more: ['web'], env: WEB },
    );
    await host.hears('I have a cat', host.alice);
    const page = await visit(host, host.alice.id);
    const memories = addressOf(host, `persona/persona?channel=${host.general.id}`);
    await page.goto(memories);
    await page.getByRole('link', { name: 'Alice has a cat.' }).click();
    await page.getByLabel('What is true').fill('Alice has two cats.');
    await page.getByRole('button', { name: 'Correct it' }).click();
    await page.getByText('Corrected.').waitFor();
    await page.goto(memories);
    await page.getByLabel('What it remembers of').fill('cats');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Alice has two cats.' }).click();

    const owners = await visit(host, host.you.id);
    await owners.goto(page.url());
    await owners.getByLabel('What is true').fill('Alice has a dog.');
    await owners.getByRole('button', { name: 'Correct it' }).click();
    await owners.getByText('That is what a member has said of themselves').waitFor();
    const others = await visit(host, host.bob.id);
    await others.goto(memories);
    await others.getByText('I remember nothing that may be told here.').waitFor();

    await page.getByRole('button', { name: 'Forget it' }).click();
    await page
      .getByRole('button', { name: /Forget it|Go on/ })
      .last()
      .click();
    await page.getByText('Forgotten for good.').waitFor();
    await page.goto(memories);
    await page.getByText('I remember nothing that may be told here.').waitFor();
    expect(await page.getByText('Alice has two cats.').count()).to.equal(0);
  });
});
