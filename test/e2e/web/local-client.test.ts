import { fileURLToPath } from 'node:url';
import { createManualClock, createTestHost } from '@cinnabar/core/testing';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { describeChromium, launchChromium } from '../../support/chromium.js';

const page = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));

describeChromium('the page of the local Discord', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  /** A guild with two members. @param port, key of an earlier server, which this one replaces */
  const start = async (port?: number, key?: string) => {
    const discord = await startLocalDiscord({
      // Makes the ids reproducible.
      clock: { now: () => Date.UTC(2026, 0, 1) },
      ...(port && { port }),
      users: { page, ...(key && { key }) },
    });
    const you = discord.createUser({ name: 'you' });
    const guild = discord.createGuild({ name: 'Night City', owner: you });
    const alice = discord.createUser({ name: 'alice' });
    guild.join(alice);
    return { discord, you, alice, guild, general: guild.createChannel({ name: 'general' }) };
  };
  const visit = async (address: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
    const opened = await (await browser.newContext(options)).newPage();
    await opened.goto(address);
    await opened.getByRole('textbox', { name: 'Message #general' }).waitFor();
    return opened;
  };
  const say = async (window: Page, text: string) => {
    await window.getByRole('textbox', { name: 'Message #general' }).fill(text);
    await window.keyboard.press('Enter');
  };

  it('lets two members in two windows talk and react', async () => {
    const { discord, you, alice, general } = await start();
    await using _ = discord;
    const [mine, hers] = await Promise.all([visit(discord.clientAddress(you)), visit(discord.clientAddress(alice))]);
    await say(mine, 'hello **alice** <img src=x onerror=alert(1)>');
    await hers.getByText('<img src=x onerror=alert(1)>').waitFor();
    const [message] = general.messages;
    if (message === undefined) throw new Error('nothing was said');
    alice.react(message, '👍');
    await mine.getByRole('button', { name: '👍, 1' }).click();
    await hers.getByRole('button', { name: '👍, 2' }).waitFor();
    expect(message.reactedBy('👍')).to.deep.equal([alice, you]);
  });

  it('tells the story of a party by clicking 👍, with the real bot', async () => {
    const { discord, you, alice, general, guild } = await start();
    await using _ = discord;
    const application = discord.createApplication({ name: 'Cinnabar', owner: you });
    guild.invite(application);
    const [bob, clock] = [discord.createUser({ name: 'bob' }), createManualClock()];
    guild.join(bob);
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', 'confirm', 'llm', 'party'], world });
    const window = await visit(discord.clientAddress(alice));
    await say(window, '!ai add V to my party, he’s a Solo');
    await window.getByText('Confirmation Required').waitFor();
    await window.getByRole('button', { name: /^👍/ }).click();
    await window.getByText('V has been added to your party!').waitFor();
    await host.settled();
    await say(window, '!ai show my party');
    await window.getByText(/Solo/).last().waitFor();
    expect(general.messages.some(({ content }) => content.includes('Confirmed by'))).to.equal(true);
  });

  it('goes on after the server was started again', async () => {
    const first = await start(undefined, 'a-key');
    const window = await visit(first.discord.clientAddress(first.you));
    await first.discord.close();
    await window.getByText('cannot be reached').waitFor();
    const second = await start(Number(new URL(first.discord.url).port), 'a-key');
    await using _ = second.discord;
    second.alice.say(second.general, 'back again');
    await window.getByText('back again').waitFor();
    await say(window, 'so am I');
    await window.getByRole('listitem').getByText('so am I').waitFor();
  });

  it('keeps the newest messages of a channel that is read at its end, and loads older ones again', async () => {
    const { discord, you, alice, general } = await start();
    await using _ = discord;
    const window = await visit(discord.clientAddress(you));
    for (let number = 0; number < 120; number++) alice.say(general, `message ${number}`);
    await window.getByText('message 119', { exact: true }).waitFor();
    expect(await window.locator('.messages > ol > li').count()).to.equal(100);
    await window.getByRole('button', { name: 'Older messages' }).click();
    await window.getByText('message 0', { exact: true }).waitFor();
    expect(await window.locator('.messages > ol > li').count()).to.equal(120);
  });
});
