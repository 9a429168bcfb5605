import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalGuild, LocalRole, LocalUser } from '@cinnabar/local-discord';
import { definePlugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../support/cinnabar.js';
import { commandPlace, openData } from '../support/data.js';

const loot = definePlugin({
  manifest: { id: 'loot', version: '1.0.0', description: 'Hands out loot', enabledByDefault: false },
  settings: { guild: z.object({ word: z.string().max(20).default('eddies').describe('What loot is called') }) },
  setup({ command, tool, settings }) {
    const give = async (guildId: string | null) => `Here are 5 ${(await settings.guild(guildId).get()).word}.`;
    command({
      name: 'loot',
      description: 'Get some loot',
      run: async (ctx) => ctx.reply(await give(ctx.actor.guildId)),
    });
    tool({
      name: 'give_loot',
      description: 'Give loot to the member who asks',
      input: z.object({}),
      risk: 'write',
      run: (_input, { actor }) => give(actor.guildId),
    });
  },
});
const PLUGINS = ['admin', 'accounts', 'confirm', 'moderation', 'roles', loot] as const;

const OFF = 'That command is not available here at the moment.';

describe('a day of an admin', () => {
  let host: TestHost;
  let dataDir: string;
  let elsewhere: LocalGuild;
  let far: LocalChannel;
  let rogue: LocalUser;
  let spammer: LocalUser;
  let boss: LocalUser;
  let fixers: LocalRole;

  before(async () => {
    host = await createTestHost({ plugins: PLUGINS, permissions: ['Administrator'] });
    dataDir = host.dataDir;
    [boss, rogue, spammer] = [host.bob, host.alice, host.discord.createUser({ name: 'spammer' })];
    host.guild.join(spammer);
    fixers = host.guild.createRole({ name: 'Fixers', position: 1 });
    host.guild.giveRole(boss, host.guild.createRole({ name: 'Boss', permissions: ['Administrator'], position: 2 }));
    elsewhere = host.discord.createGuild({ name: 'Pacifica', owner: boss });
    elsewhere.invite(host.application, { permissions: ['Administrator'] });
    elsewhere.join(rogue);
    far = elsewhere.createChannel({ name: 'far' });
    await host.settled();
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    await host.discord.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** The bot's answer, in the channel or, for a question by direct message, there. */
  const say = async (user: LocalUser, text: string, where = host.general, file?: string): Promise<string> => {
    const before = where.messages.length;
    const files = file === undefined ? [] : [{ name: 'server.yaml', data: Buffer.from(file) }];
    user.say(where, text, { files });
    await host.settled();
    return where.messages
      .slice(before)
      .filter(({ author }) => author.bot)
      .map(({ content }) => content)
      .join('\n');
  };
  const press = async (user: LocalUser, label: string, where = host.general): Promise<string> => {
    const asked = where.messages.at(-1);
    if (asked === undefined) throw new Error('nothing was asked');
    user.click(asked, label);
    await host.settled();
    return where.messages.at(-1)?.content ?? '';
  };
  const lose = async (plugin: string) => {
    await using data = await openData(dataDir);
    for (const path of await data.list([plugin], 'all')) await data.erase(path);
  };
  afterEach('the other server is as it was', async () => expect(await say(rogue, '!loot', far)).to.equal(OFF));

  it('1. switches a plugin on in one of two servers', async () => {
    expect(await say(rogue, '!loot')).to.equal(OFF);
    expect(await say(boss, '!plugin enable loot')).to.equal('`loot` is on in this server now.');
    expect(await say(rogue, '!loot')).to.equal('Here are 5 eddies.');
  });

  it('2. restricts it to a role', async () => {
    expect(await say(boss, '!access deny plugin:loot everyone')).to.equal('Denied: the plugin `loot` for everyone.');
    expect(await say(boss, '!access allow plugin:loot Fixers')).to.equal(
      `Allowed: the plugin \`loot\` for the role ${fixers}.`,
    );
  });

  it('3. sees a member refused, with the reason', async () => {
    expect(await say(rogue, '!loot')).to.equal(
      'You may not do that: a rule of this server denies the plugin `loot` for everyone',
    );
  });

  it('4. has it explained', async () => {
    expect(await say(boss, `!access explain ${rogue} loot`))
      .to.include('⛔ `loot`: refused')
      .and.include('✗ a rule of this server denies the plugin `loot` for everyone');
    expect(await say(boss, `!diagnose ${rogue} loot`)).to.include('**First obstacle**: a rule of this server denies');
  });

  it('5. mends it with the role', async () => {
    expect(await say(boss, `!role give ${rogue} Fixers`)).to.include('Fixers');
    expect(await say(rogue, '!loot')).to.equal('Here are 5 eddies.');
    expect(await say(boss, `!diagnose ${rogue} loot`)).to.include('Nothing stands in the way here.');
  });

  it('6. switches one tool off', async () => {
    expect(await say(boss, '!tool disable give_loot')).to.include('give_loot');
    expect(await say(boss, `!access explain ${rogue} give_loot`)).to.include('⛔ `give_loot`: refused');
    expect(await say(rogue, '!loot'), 'the command stays').to.equal('Here are 5 eddies.');
  });

  it('7. changes a setting in a form', async () => {
    const [page] = (await boss.slash(host.general, 'settings', { plugin: 'loot' }).answered()).messages;
    await host.settled();
    if (page === undefined) throw new Error('there is no page');
    boss.select(page, 'Change a setting', ['word']);
    await host.settled();
    const form = boss.click(page, 'Change …');
    await host.settled();
    boss.submit(form, { value: 'gold' });
    await host.settled();
    expect(page.content).to.include('✓ `word` of `loot` is `gold` for this server now.');
    expect(await say(rogue, '!loot')).to.equal('Here are 5 gold.');
  });

  it('8. warns a member, times them out, and finds the cases', async () => {
    expect(await say(boss, `!warn ${spammer} spamming links`)).to.include('was warned (case 1)');
    expect(await say(boss, `!timeout ${spammer} 10m cool down`)).to.include('is in time-out for 10m');
    expect(await say(boss, `!cases ${spammer}`))
      .to.match(/\*\*2\*\* · Time-out .* cool down/)
      .and.match(/\*\*1\*\* · Warning .* spamming links/);
    expect(await say(boss, '!cases', far)).to.not.include('spamming');
  });

  it('9. the owner of the bot backs it up', async () => {
    expect(await say(boss, '!backup')).to.include("you need to be at least the bot's owner");
    expect(await say(host.you, '!backup')).to.match(/^Backed up in .* Every checksum is right\.$/);
  });

  it('10. and 11. breaks it, restores it, and all is as it was', async () => {
    await say(boss, '!access clear plugin:loot everyone');
    await say(boss, '!plugin disable loot');
    await host.stop();
    await lose('loot');
    await lose('moderation');
    const [name = ''] = readdirSync(join(dataDir, 'backups'));
    using place = await commandPlace(dataDir);
    const { code, err } = await cinnabar(['restore', join(dataDir, 'backups', name)], place);
    expect(code, err).to.equal(0);

    host = await createTestHost({ plugins: PLUGINS, world: host, dataDir });
    // Advances until the time-out is over.
    await host.advance(11 * 60_000);
    expect(await say(rogue, '!loot')).to.equal('Here are 5 gold.');
    expect(await say(spammer, '!loot')).to.include('denies the plugin `loot` for everyone');
    expect(await say(boss, '!tool policy give_loot')).to.include('deny');
    expect(await say(boss, `!cases ${spammer}`))
      .to.include('spamming links')
      .and.include('cool down');
  });

  it('12. and 13. plans a file of the server, and applies it', async () => {
    const file = 'prefixes: ["!", "?"]\nroles: { mod: [Fixers] }\nsettings: { loot: { word: credits } }';
    const plan = await say(boss, '!server plan', host.general, file);
    expect(plan).to.include('prefixes').and.include('settings.loot.word: gold → credits').and.include('(Fixers)');
    expect(await say(rogue, '!loot')).to.equal('Here are 5 gold.');
    await say(boss, '!server apply', host.general, file);
    expect(await press(boss, 'Apply it')).to.match(/^Done: 3 changes\./);
    expect(await say(rogue, '?loot')).to.equal('Here are 5 credits.');
    expect(await say(rogue, `!case 1`), 'a Fixer is a moderator now').to.include('spamming links');
    expect(await say(boss, '!prefix show', far)).to.not.include('?');
  });

  it('14. has a member forgotten', async () => {
    expect(await say(host.you, `!mydata erase ${spammer.id} everything`)).to.match(/^Done\. I have deleted /);
    const left = await say(boss, '!case 1');
    expect(left).to.not.include('spamming');
    expect(await say(boss, '!cases'), 'the facts stay').to.include('Warning');
  });

  it('15. reads all of it in the audit', async () => {
    let audit = await say(boss, '!audit all');
    const [, pages = '1'] = /page 1 of (\d+)/.exec(audit) ?? [];
    for (let page = 1; page < Number(pages); page += 1) audit += await press(boss, 'Older');
    for (const act of [
      'plugin enable loot',
      'access deny plugin:loot everyone',
      'access allow plugin:loot Fixers',
      'loot — denied',
      'access explain',
      'diagnose',
      'role give',
      'tool disable give_loot',
      'set loot word gold',
      'warn',
      'timeout',
      'backup',
      'server plan',
      'server apply',
      'mydata erase',
    ])
      expect(audit.replaceAll('\\', '')).to.include(act);
    expect(audit, 'of who was forgotten')
      .to.match(/warn \S+ …/)
      .and.not.include('spamming links');
    expect(await say(boss, '!audit', far)).to.not.include('loot');
  });
});
