import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin, subcommand, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from './harness.js';

const bar = definePlugin({
  manifest: { id: 'bar', version: '1.0.0', description: 'Serves drinks' },
  setup({ command, group, tool }) {
    command({ name: 'drink', description: 'Have a drink', aliases: ['sip'], run: (ctx) => ctx.reply('Cheers') });
    group({
      name: 'tab',
      description: 'Your tab',
      commands: [
        subcommand({ name: 'show', description: 'See it', run: (ctx) => ctx.reply('12 eddies') }),
        subcommand({
          name: 'clear',
          description: 'Clear it',
          access: { tier: 'mod' },
          run: (ctx) => ctx.reply('Cleared'),
        }),
        subcommand({
          name: 'ban',
          description: 'Ban a guest',
          access: { tier: 'mod', member: ['BanMembers'] },
          run: (ctx) => ctx.reply('Banned'),
        }),
      ],
    });
    tool({ name: 'pour', description: 'Pour a drink', input: z.object({}), risk: 'read', run: () => 'poured' });
  },
});

describe('admin: access rules', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  let alice: LocalUser;
  let bob: LocalUser;

  before(async () => {
    host = await createTestHost({ plugins: ['admin', bar] });
    say = answering(host);
    ({ alice, bob } = host);
  });
  afterEach(() => say(host.you, '!access clear all'));
  after(() => host[Symbol.asyncDispose]());

  const offered = async (user: LocalUser) => {
    const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
    return (await host.resolve(Tools).offered(actor)).map(({ name }) => name);
  };

  it('take members by name, and suggest among plugins where a plugin is meant', async () => {
    expect(await say(host.you, '!access deny drink Alice')).to.equal(
      `Denied: the command \`drink\` for <@${alice.id}>.`,
    );
    expect(await say(host.you, '!access deny drink @nosuch')).to.equal(
      'There is no member, role, channel or category called `@nosuch` here.',
    );
    expect(await say(host.you, '!block add Bob')).to.include(`<@${bob.id}>`);
    await say(host.you, '!block remove Bob');
    expect(await say(host.you, '!access deny plugin:barr everyone')).to.equal(
      'There is no plugin called `barr`. Did you mean `bar`?',
    );
  });

  it('restrict a plugin to a role: commands by prefix and slash, help and tools alike, with the reason', async () => {
    const regulars = host.guild.createRole({ name: 'Regulars' });
    host.guild.giveRole(bob, regulars);
    expect(await say(host.you, '!access deny plugin:bar everyone')).to.equal('Denied: the plugin `bar` for everyone.');
    expect(await say(host.you, '!access allow plugin:bar Regulars')).to.equal(
      `Allowed: the plugin \`bar\` for the role <@&${regulars.id}>.`,
    );
    expect(await say(alice, '!drink')).to.include('a rule of this server denies the plugin `bar` for everyone');
    expect(await say(bob, '!drink')).to.equal('Cheers');
    const slash = alice.slash(host.general, 'drink');
    await host.settled();
    expect(slash.messages[0]?.content).to.include('denies the plugin `bar`');
    expect(await say(alice, '!help')).to.not.include('drink');
    expect(await say(bob, '!help bar')).to.include('drink');
    expect([await offered(alice), await offered(bob)]).to.deep.equal([[], ['pour']]);
  });

  it('lift the tier of a moderator for one subcommand, and no permission of Discord', async () => {
    expect(await say(alice, '!tab clear')).to.include('you need to be at least a moderator');
    await say(host.you, `!access allow tab ${alice}`);
    expect(await say(alice, '!tab clear')).to.equal('Cleared');
    expect(await say(alice, '!tab ban')).to.include('you lack Ban Members');
    expect(await say(bob, '!tab clear')).to.include('you need to be at least a moderator');
  });

  it('are explained as they decide, and show what a member may use', async () => {
    await say(host.you, `!access deny sip #${host.general.name}`);
    const why = await say(host.you, `!access explain ${alice} drink`);
    expect(why).to.include('⛔ `drink`: refused').and.to.include('✓ the plugin "bar" is switched on here');
    expect(why).to.include(`✗ a rule of this server denies the command \`drink\` in <#${host.general.id}>`);
    expect(await say(host.you, `!access explain ${alice} pour`)).to.include('✅ `pour`: allowed');
    expect(await say(host.you, `!access explain ${alice} "pour"`)).to.include('✅ `pour`: allowed');
    expect(await say(host.you, `!access explain ${alice} tab`))
      .to.include('✅ `tab show`')
      .and.to.include('⛔ `tab ban`');
    const check = await say(host.you, `!access check ${alice}`);
    expect(check).to.include('`tab show`').and.to.not.include('`drink`');
  });

  it("never lock the server's owner out", async () => {
    for (const what of ['access', 'plugin:admin']) {
      await say(host.you, `!access deny ${what} everyone`);
      const asked = host.general.messages.at(-1);
      if (asked !== undefined) host.you.click(asked, 'Deny it all the same');
      await host.settled();
    }
    expect(await say(host.you, '!access list')).to.include('• deny the command `access` for everyone');
  });

  it('of the owner of the bot are written at once', async () => {
    expect(await say(host.you, '!access global deny help everyone')).to.equal(
      'Denied: the command `help` for everyone.',
    );
    expect(await say(host.you, '!access global clear all')).to.include('Removed 1 rule');
  });

  it('are for admins, and name what is wrong', async () => {
    expect(await say(alice, '!access list')).to.include('you need to be at least an admin');
    expect(await say(host.you, '!access deny drnk everyone')).to.include('Did you mean `drink`?');
    expect(await say(host.you, '!access deny drink Nomads')).to.include(
      'There is no member, role, channel or category called `Nomads`',
    );
    expect(await say(host.you, '!access clear drink')).to.equal('There is no such rule here.');
  });

  it('go to a file and come back from it in one step; a file that is wrong changes nothing', async () => {
    await say(host.you, `!access deny "tab show" ${alice}`);
    await say(host.you, '!access allow pour everyone');
    await say(host.you, '!access export');
    const [file] = host.general.messages.at(-1)?.attachments ?? [];
    const yaml = Buffer.from(file?.data ?? []).toString();
    expect(yaml).to.include(`  - effect: deny\n    command: tab show\n    user: "${alice.id}" # alice\n`);
    await say(host.you, '!access clear all');

    const give = async (content: string) => {
      host.you.say(host.general, '!access import', { files: [{ name: 'access.yaml', data: Buffer.from(content) }] });
      await host.settled();
      return host.general.messages.at(-1)?.content ?? '';
    };
    expect(await give(`${yaml}  - effect: maybe\n    tool: pour\n    everyone: true\n`)).to.include(
      'The file cannot be used: line 8',
    );
    expect(await give('rules:\n  - {effect: deny, tool: pour, plugin: bar, everyone: true}\n')).to.include(
      'a rule names one of everything, plugin, command, tool',
    );
    expect(await give('rules: [')).to.include('The file cannot be read: line 1');
    expect(await say(host.you, '!access list')).to.include('no access rules');
    expect(await give(yaml)).to.equal('This replaces the 0 rules of this server by 2 rules.');
    const asked = host.general.messages.at(-1);
    if (asked !== undefined) host.you.click(asked, 'Replace them');
    await host.settled();
    expect(await say(host.you, '!access list')).to.match(
      /\(2\)[\s\S]*deny the command `tab show`[\s\S]*allow the tool `pour`/,
    );
    expect(await say(host.you, '!audit')).to.include('access import 2 (agreed)');
  });

  it('!roles makes the members of a role moderators or admins, until it is taken back', async () => {
    const bouncers = host.guild.createRole({ name: 'Bouncers' });
    host.guild.giveRole(bob, bouncers);
    await host.settled();
    expect(await say(host.you, `!roles mod add <@&${bouncers.id}>`)).to.equal(
      `Members of <@&${bouncers.id}> are moderators for me now.`,
    );
    expect(await say(bob, '!tab clear')).to.equal('Cleared');
    expect(await say(host.you, '!roles list')).to.equal(`Admins: no role\nModerators: <@&${bouncers.id}>`);
    await say(host.you, `!roles mod remove <@&${bouncers.id}>`);
    expect(await say(bob, '!tab clear')).to.include('you need to be at least a moderator');
    expect(await say(bob, `!roles admin add <@&${bouncers.id}>`)).to.include('you need to be at least an admin');
  });
});
