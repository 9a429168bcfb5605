import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTestHost,
  type LocalInteraction,
  type LocalMessage,
  type LocalUser,
  type TestHost,
} from '@cinnabar/core/testing';
import { AuditLog, definePlugin, SettingsCatalog, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const shop = definePlugin({
  manifest: { id: 'shop', version: '1.0.0', description: 'Sells things' },
  settings: {
    global: z.object({ key: z.string().default('').meta({ secret: true }).describe('Key of the bank') }),
    guild: z.object({
      open: z.boolean().default(false).describe('Whether the shop is open'),
      style: z.enum(['plain', 'neon', 'dark']).default('plain').describe('How it looks'),
      most: z.number().int().min(1).max(20).default(5).describe('How many things a member may buy'),
      words: z.array(z.string().min(2)).max(5).default(['hi, you']).describe('What it says'),
      counter: z.string().meta({ kind: 'channel' }).optional().describe('Where it is'),
      sellers: z
        .array(z.string().meta({ kind: 'role' }))
        .default([])
        .describe('Who sells'),
      pick: z
        .enum(Array.from({ length: 30 }, (_, n) => `item${n}`) as [string, ...string[]])
        .default('item0')
        .describe('The thing of the day'),
    }),
    user: z.object({ size: z.number().min(0).default(1).describe('Your size') }),
  },
  setup: () => undefined,
});
const many = Array.from({ length: 26 }, (_, n) =>
  definePlugin({
    manifest: { id: `extra${String(n).padStart(2, '0')}`, version: '1.0.0', description: 'Has a setting' },
    settings: { user: z.object({ n: z.number().default(n) }) },
    setup: () => undefined,
  }),
);

describe('admin: the settings pages', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', shop, ...many], logFiles: true });
  });
  after(() => host[Symbol.asyncDispose]());

  const slash = async (user: LocalUser, options: Record<string, string> = {}): Promise<LocalMessage> => {
    const { messages } = await user.slash(host.general, 'settings', options).answered();
    await host.settled();
    const [page] = messages;
    if (page === undefined) throw new Error('there is no page');
    return page;
  };
  const done = async (interaction: LocalInteraction) => {
    await host.settled();
    return interaction;
  };
  const click = async (user: LocalUser, page: LocalMessage, label: string) => done(user.click(page, label));
  const choose = async (
    user: LocalUser,
    page: LocalMessage,
    menu: string | undefined,
    value: Parameters<LocalUser['select']>[2][number],
  ) => done(user.select(page, menu, [value]));
  const settingOf = async (user: LocalUser, key: string) => {
    const page = await slash(user, { plugin: 'shop' });
    await choose(user, page, 'Change a setting', key);
    return page;
  };
  const value = async (key: string) => {
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    return (await host.resolve(SettingsCatalog).describe('shop', actor)).find((one) => one.key === key)?.value;
  };
  const audited = async () => (await host.resolve(AuditLog).recent(host.guild.id, 1))[0];
  const said = (interaction: LocalInteraction) => interaction.messages.map(({ content }) => content).join('\n');

  it('lead from the plugins to a setting, and are seen by their owner alone', async () => {
    const page = await slash(host.you);
    expect(page.visibleTo).to.equal(host.you);
    expect(page.content).to.include('Which plugin’s?');
    await click(host.you, page, 'Next ▶');
    await choose(host.you, page, 'Choose a plugin', 'shop');
    expect(page.content)
      .to.include('**Settings of shop**: This server')
      .and.include('• `open` = `false` Whether the shop is open');
    await choose(host.you, page, undefined, 'Mine');
    expect(page.content).to.include('**Settings of shop**: Mine').and.include('`size`');
    await choose(host.you, page, undefined, 'The bot, everywhere');
    expect(page.content).to.include('`key` = `(not set)`');
    await click(host.you, page, 'Other plugins');
    expect(page.content).to.include('Which plugin’s?');
  });

  it('offer members what they may change, and nothing else', async () => {
    const page = await slash(host.alice, { plugin: 'shop' });
    expect(page.content).to.include('Mine').and.not.include('style');
    expect((await slash(host.alice, { plugin: 'shopp' })).content).to.include(
      '`shopp` has no settings that you may change here.',
    );
  });

  it('change switches, choices, channels and roles with native menus, as `!set` does, and record it', async () => {
    const page = await settingOf(host.you, 'open');
    await click(host.you, page, 'On');
    expect(page.content).to.include('✓ `open` of `shop` is `true` for this server now.');
    expect(await value('open')).to.equal(true);
    expect(await audited()).to.include({ act: 'set shop open yes', outcome: 'done', userId: host.you.id });
    await click(host.you, page, 'Back');
    await choose(host.you, page, 'Change a setting', 'style');
    await choose(host.you, page, 'Choose', 'neon');
    expect(await value('style')).to.equal('neon');
    await click(host.you, page, 'Reset to the default');
    expect(await value('style')).to.equal('plain');
    expect(await audited()).to.include({ act: 'unset shop style' });

    const where = await settingOf(host.you, 'counter');
    await choose(host.you, where, undefined, host.general);
    expect(await value('counter')).to.equal(host.general.id);
    const who = await settingOf(host.you, 'sellers');
    const role = host.guild.createRole({ name: 'Sellers' });
    await host.settled();
    await choose(host.you, who, undefined, role);
    expect(await value('sellers')).to.deep.equal([role.id]);

    const pick = await settingOf(host.you, 'pick');
    await click(host.you, pick, 'Next ▶');
    await choose(host.you, pick, 'Choose', 'item29');
    expect(await value('pick')).to.equal('item29');
  });

  it('take numbers and lists by a form with the value of now, say what is wrong where it was typed, and lose nothing', async () => {
    const page = await settingOf(host.you, 'most');
    const form = await click(host.you, page, 'Change …');
    expect(JSON.stringify(form.modal)).to.include('"value":"5"').and.include('whole number from 1 to 20');
    await done(host.you.submit(form, { value: '21' }));
    expect(page.content).to.include('has to be a whole number from 1 to 20, not "21"').and.include('You gave: `21`');
    expect(await value('most')).to.equal(5);
    expect(await audited()).to.include({ act: 'set shop most 21', outcome: 'refused' });
    const again = await click(host.you, page, 'Correct what I typed …');
    expect(JSON.stringify(again.modal)).to.include('"value":"21"');
    await done(host.you.submit(again, { value: '20' }));
    expect(await value('most')).to.equal(20);

    const words = await settingOf(host.you, 'words');
    const lines = await click(host.you, words, 'Change …');
    expect(JSON.stringify(lines.modal)).to.include('"value":"hi, you"').and.include('one in each line');
    await done(host.you.submit(lines, { value: 'hello, you\n\n[bye]\n' }));
    expect(await value('words')).to.deep.equal(['hello, you', '[bye]']);
    const wrong = await click(host.you, words, 'Change …');
    await done(host.you.submit(wrong, { value: 'x' }));
    expect(words.content).to.include('⚠️').and.include('You gave: `x`');
  });

  it('keep a secret from the page, the audit and what others read, and take it in a server all the same', async () => {
    const page = await slash(host.you, { plugin: 'shop' });
    await choose(host.you, page, undefined, 'The bot, everywhere');
    await choose(host.you, page, 'Change a setting', 'key');
    await done(host.you.submit(await click(host.you, page, 'Change …'), { value: 'hunter2hunter2' }));
    expect(page.content).to.include('`(set)`').and.not.include('hunter2');
    expect(await audited()).to.include({ act: 'set shop key (secret)' });
    expect(JSON.stringify((await click(host.you, page, 'Change …')).modal)).to.not.include('hunter2');
  });

  it('keep a secret that was typed after `!set` out of the audit, wherever it was typed and however', async () => {
    const dm = host.you.openDm(host.application);
    host.you.say(host.general, '!set shop KEY swordfish1');
    host.you.say(host.general, '!set shop keyy swordfish1');
    host.you.say(host.general, '!set shop key "swordfish1');
    host.you.say(dm, '!set shop key swordfish1');
    host.you.slash(host.general, 'set', { plugin: 'shop', key: 'key', value: 'swordfish1' });
    await host.settled();
    const acts = await host.resolve(AuditLog).recent(host.guild.id, 4);
    expect(acts.map(({ act }) => act)).to.include.members(['set shop KEY (secret)', 'set shop keyy (secret)']);
    expect(JSON.stringify(acts)).to.not.include('swordfish');
    expect(dm.messages.at(-1)?.content).to.include('`(set)`');
    host.you.say(host.general, '!set shop most 20');
    await host.settled();
    expect(await audited()).to.include({ act: 'set shop most 20' });
  });

  it('say what an admin has changed meanwhile, and change nothing themselves', async () => {
    const [one, other] = [await settingOf(host.you, 'style'), await settingOf(host.you, 'style')];
    await choose(host.you, other, 'Choose', 'dark');
    await choose(host.you, one, 'Choose', 'neon');
    expect(one.content).to.include('`style` has been changed meanwhile: it was `plain`, and is `dark` now.');
    expect(await value('style')).to.equal('dark');
    await choose(host.you, one, 'Choose', 'neon');
    expect(await value('style')).to.equal('neon');

    const page = await settingOf(host.you, 'most');
    const form = await click(host.you, page, 'Change …');
    host.you.say(host.general, '!set shop most 7');
    await host.settled();
    await done(host.you.submit(form, { value: '9' }));
    expect(page.content).to.include('it was `20`, and is `7` now').and.include('You gave: `9`');
    const kept = await click(host.you, page, 'Correct what I typed …');
    await done(host.you.submit(kept, { value: '9' }));
    expect(await value('most')).to.equal(9);
  });

  it('answer only the person who opened them, and no one whom `!set` would refuse', async () => {
    host.you.say(host.general, '!settings shop');
    await host.settled();
    const page = host.general.messages.at(-1);
    if (page === undefined) throw new Error('there is no page');
    expect(said(await done(host.alice.select(page, 'Change a setting', ['open'])))).to.include(
      'Only the person who opened this page',
    );
    host.you.say(host.general, `!access deny set <@${host.bob.id}>`);
    await host.settled();
    const own = await slash(host.bob, { plugin: 'extra00' });
    await choose(host.bob, own, 'Change a setting', 'n');
    await done(host.bob.submit(await click(host.bob, own, 'Change …'), { value: '7' }));
    expect(own.content).to.include('⚠️ You may not do that').and.include('You gave: `7`');
    expect(await audited()).to.include({ outcome: 'denied', userId: host.bob.id });
  });

  it('change nothing more once a rule refuses them, though they were opened before', async () => {
    const page = await settingOf(host.you, 'open');
    const own = await slash(host.alice, { plugin: 'extra00' });
    await choose(host.alice, own, 'Change a setting', 'n');
    const form = await click(host.alice, own, 'Change …');
    host.you.say(host.general, `!access deny settings <@${host.alice.id}>`);
    await host.settled();
    await done(host.alice.submit(form, { value: '7' }));
    expect(own.content).to.include('⚠️ You may not do that').and.include('Now `0`');
    expect(said(await click(host.alice, own, 'Back'))).to.not.include('extra00');
    await click(host.you, page, 'Back');
    expect(page.content).to.include('**Settings of shop**');
  });

  it('say so when they are too old, give back what was typed, and show a way on', async () => {
    const page = await settingOf(host.you, 'most');
    const form = await click(host.you, page, 'Change …');
    await host.advance(31 * 60_000);
    const old = await done(host.you.submit(form, { value: '3' }));
    expect(said(old))
      .to.include('too old, or from before I was started again. Nothing was changed.')
      .and.include('You typed:\n```\n3\n```');
    const way = old.messages.at(-1);
    if (way === undefined) throw new Error('there is no way on');
    const opened = await click(host.you, way, 'Open the settings');
    expect(said(opened)).to.include('**Settings of shop**');
    expect(await value('most')).to.equal(9);
  });

  it('give no secret back that was typed too late', async () => {
    const page = await slash(host.you, { plugin: 'shop' });
    await choose(host.you, page, undefined, 'The bot, everywhere');
    await choose(host.you, page, 'Change a setting', 'key');
    const form = await click(host.you, page, 'Change …');
    await host.advance(31 * 60_000);
    const old = await done(host.you.submit(form, { value: 'swordfish1' }));
    expect(said(old)).to.include('Nothing was changed.').and.not.include('swordfish');
  });

  it('leave no secret in the logs', async () => {
    await host.stop();
    const dir = join(host.dataDir, 'logs');
    const logs = readdirSync(dir)
      .map((name) => readFileSync(join(dir, name), 'utf8'))
      .join();
    expect(logs).to.include('set shop key (secret)').and.not.include('swordfish').and.not.include('hunter2');
  });
});
