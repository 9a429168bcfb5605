import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { AuditLog, definePlugin, option, PersonalDataStore, type Plugin, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { useSharedHost } from '../../support/shared-host.js';

async function openCustom(...plugins: readonly Plugin[]) {
  return worldOf(await createTestHost({ plugins: ['admin', 'custom', ...plugins] }));
}

function worldOf(host: TestHost) {
  const say = async (user: TestHost['alice'], text: string) => {
    const before = host.general.messages.length;
    user.say(host.general, text);
    await host.settled();
    const said = host.general.messages.slice(before + 1);
    return said.map(({ content }) => content).join('\n');
  };
  return { host, say, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

describe('custom commands', () => {
  const enter = useSharedHost(() => ({ plugins: ['admin', 'custom'] }));

  it('are made by moderators, used by all, filled in with data only, and never ping', async () => {
    await using world = worldOf(await enter());
    const { host, say } = world;
    const { alice, you, guild, general } = host;
    expect(await say(alice, '!customcom create hi Hello')).to.include('You may not do that');
    expect(
      await say(
        you,
        '!cc create Hi Hello {author.mention}, {0} of {server} in {channel.mention}! {unknown} @everyone {1:int}',
      ),
    ).to.equal('Custom command `hi` is there.');
    expect(await say(alice, '!hi "{author.id} friend" 7')).to.equal(
      `Hello <@${alice.id}>, {author.id} friend of ${guild.name} in <#${general.id}>! {unknown} @everyone 7`,
    );
    expect(await say(alice, '!hi')).to.include('this command takes 1 word after its name');
    expect(await say(alice, '!hi you many')).to.equal('Word 2 has to be a whole number.');
    expect(await say(alice, '!help')).to.include('custom');
    expect(await say(alice, '!help hi')).to.include('A custom command of this server');
    expect(await say(you, '!cc show hi')).to.include('at random');
    expect(await say(alice, '!cc search hello')).to.include('`hi`');
    expect(await say(you, '!cc edit hi Bye')).to.include('changed');
    expect(await say(alice, '!hi')).to.equal('Bye');
    expect(await say(you, '!cc delete hi')).to.include('deleted');
    expect(await say(alice, '!hi')).to.equal('');
    expect(await say(you, '!cc create simple red As in Red')).to.include('`red`');
    expect(await say(alice, '!red')).to.equal('As in Red');
    expect(await say(you, '!cc create nothing ""')).to.equal('It has to say something.');
  });

  it('answer in turn, wait for their cooldown, and outlive a restart', async () => {
    const { host, say } = await openCustom();
    try {
      const { you, alice, bob } = host;
      await say(you, '!cc create coin heads');
      expect(await say(you, '!cc addanswer coin tails')).to.equal('`coin` has 2 answers now.');
      await say(you, '!cc order coin turn');
      expect([await say(alice, '!coin'), await say(alice, '!coin'), await say(alice, '!coin')]).to.deep.equal([
        'heads',
        'tails',
        'heads',
      ]);
      await say(you, '!cc cooldown coin 30s');
      await say(alice, '!coin');
      expect(await say(alice, '!coin')).to.include('Please wait 30 s');
      expect(await say(bob, '!coin')).to.match(/heads|tails/);
      await host.stop();
      await using again = await createTestHost({ plugins: ['admin', 'custom'], world: host, dataDir: host.dataDir });
      again.alice.say(again.general, '!coin');
      await again.settled();
      expect(again.general.messages.at(-1)?.content).to.match(/^(?:heads|tails)$/);
    } finally {
      await host[Symbol.asyncDispose]();
    }
  });

  it('are named by access rules and switched off like others, and are of one server', async () => {
    await using world = worldOf(await enter());
    const { host, say } = world;
    await say(host.you, '!cc create hi Hello');
    expect(await say(host.you, `!access deny hi <@${host.alice.id}>`)).to.include('Denied');
    expect(await say(host.alice, '!hi')).to.include('You may not do that');
    expect(await say(host.bob, '!hi')).to.equal('Hello');
    expect(await say(host.you, `!access explain <@${host.alice.id}> hi`)).to.include('hi');
    expect(await say(host.you, '!command disable hi')).to.include('hi');
    expect(await say(host.bob, '!hi')).to.include('You may not do that');
    const dm = host.bob.openDm(host.application);
    host.bob.say(dm, '!hi');
    await host.settled();
    expect(dm.messages.at(-1)?.content).to.not.equal('Hello');
  });

  it('go to one of two who take a name at the same moment', async () => {
    await using world = worldOf(await enter());
    const { host, say } = world;
    host.guild.giveRole(host.alice, host.guild.createRole({ name: 'Mods', permissions: ['KickMembers'] }));
    await host.settled();
    const before = host.general.messages.length;
    host.you.say(host.general, '!cc create same one');
    host.alice.say(host.general, '!cc create same two');
    host.you.say(host.general, '!alias add same help');
    await host.settled();
    const answers = host.general.messages.slice(before).filter(({ author }) => author.bot);
    const said = answers.map(({ content }) => content);
    expect(said.filter((one) => one.includes('is there'))).to.have.length(1);
    expect(said.filter((one) => one.includes('already'))).to.have.length(2);
    expect(await say(host.you, '!cc list')).to.equal('`same`');
    expect(await say(host.you, '!alias list')).to.include('no aliases');
  });

  it('do not take the names of real commands, and give way to one that comes later', async () => {
    await using world = await openCustom();
    const { host, say } = world;
    for (const taken of ['help', 'cc', 'alias']) {
      expect(await say(host.you, `!cc create ${taken} x`)).to.equal(`There is a command \`${taken}\` already.`);
    }
    await say(host.you, '!cc create roll custom');
    await host.stop();
    const roll = definePlugin({
      manifest: { id: 'dice', version: '1.0.0', description: 'Dice' },
      setup: ({ command }) => void command({ name: 'roll', description: 'Rolls', run: (ctx) => ctx.reply('real') }),
    });
    await using again = await createTestHost({
      plugins: ['admin', 'custom', roll],
      world: host,
      dataDir: host.dataDir,
    });
    const ask = async (text: string) => {
      again.you.say(again.general, text);
      await again.settled();
      return again.general.messages.at(-1)?.content;
    };
    expect(await ask('!roll')).to.equal('real');
    expect(await ask('!cc list')).to.equal('`roll` (hidden by a command of a plugin)');
  });

  it('are made by tools under the same rules, and lose their author when they are forgotten', async () => {
    await using world = worldOf(await enter());
    const { host, say } = world;
    const { you, alice, guild, general } = host;
    const invoke = (user: TestHost['alice'], name: string, input: object) =>
      host.resolve(Tools).invoke({
        name,
        arguments: input,
        actor: { userId: user.id, guildId: guild.id, channelId: general.id },
        origin: 'test',
      });
    expect(await invoke(alice, 'create_custom_command', { name: 'hi', text: 'x' })).to.include({ status: 'denied' });
    expect(await invoke(you, 'create_custom_command', { name: 'hi', text: 'Hello' })).to.include({ status: 'done' });
    await say(you, '!set custom creators everyone');
    await say(alice, '!cc create mine xylophone');
    expect(await say(alice, '!cc delete hi')).to.include('Only its author and moderators');
    const store = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(alice.id))).to.include('xylophone');
    await store.forget(alice.id);
    await store.forget(you.id);
    await host.settled();
    expect(await say(alice, '!mine')).to.equal('');
    // The name is free for a custom command again.
    expect(await say(you, '!cc create mine Hello')).to.include('is there');
    expect(await say(you, '!cc edit mine Bye')).to.include('changed');
    expect(await say(alice, '!mine')).to.equal('Bye');
    expect(await say(alice, '!hi')).to.equal('Hello');
    expect(await say(you, '!cc show hi')).to.include('by unknown');
  });
});

describe('the right to create custom commands', () => {
  it('is decided and explained as the setting says, for commands and tools', async () => {
    await using world = await openCustom();
    const { host, say } = world;
    const { alice, you } = host;
    const member = `<@${alice.id}>`;
    const answers = async () => ({
      explained: await say(you, `!access explain ${member} customcom create`),
      tool: await say(you, `!access explain ${member} create_custom_command`),
      checked: await say(you, `!access check ${member}`),
      diagnosed: await say(you, `!diagnose ${member} alias add`),
      help: await say(alice, '!help alias'),
    });
    const closed = await answers();
    expect(closed.explained).to.include('refused').and.to.include('at least a moderator');
    expect(closed.tool).to.include('refused');
    expect(closed.checked).to.not.include('customcom create').and.not.include('create_custom_command');
    expect(closed.checked).to.include('customcom list');
    expect(closed.diagnosed).to.include('First obstacle').and.to.include('access allow');
    expect(closed.help).to.include('alias list').and.not.include('alias add');
    await say(you, '!set custom creators everyone');
    const open = await answers();
    expect(open.explained).to.include('allowed');
    expect(open.tool).to.include('allowed');
    expect(open.checked).to.include('customcom create').and.to.include('create_custom_command');
    expect(open.diagnosed).to.include('Nothing stands in the way');
    expect(open.help).to.include('alias add');
    await say(you, '!set custom creators admin');
    expect(await say(you, `!access allow "customcom create" ${member}`)).to.include('Allowed');
    expect(await say(alice, '!cc create hi Hello')).to.include('is there');
  });
});

describe('custom commands of members', () => {
  it('say in words that there is nothing to answer, and leave room for those of others', async () => {
    await using world = await openCustom();
    const { host, say } = world;
    await say(host.you, '!cc create echo {rest}');
    expect(await say(host.alice, '!echo')).to.include('nothing to say');
    expect(await say(host.alice, '!echo x')).to.equal('x');
    await say(host.you, '!set custom creators everyone');
    for (let n = 0; n < 20; n += 1) await say(host.alice, `!cc create mine${n} x`);
    expect(await say(host.alice, '!cc create mine20 x')).to.include('at most 20 of your own');
    expect(await say(host.bob, '!cc create his x')).to.include('is there');
  });
});

describe('aliases', () => {
  it('run another command with arguments, under the rights of who uses them', async () => {
    await using world = await openCustom();
    const { host, say } = world;
    const { you, alice } = host;
    await say(you, '!cc create hello Hello {0} and {1}');
    expect(await say(you, '!alias add greet hello {0} Bob')).to.equal('Alias `greet` is there.');
    expect(await say(alice, '!greet Ann')).to.equal('Hello Ann and Bob');
    await say(you, '!alias add pre !prefix');
    expect(await say(alice, '!pre add ?')).to.include('You may not do that');
    expect(await say(you, '!pre add ?')).to.include('?');
    expect(await say(you, '!alias add nothing nosuchcommand')).to.equal(
      'There is no command `nosuchcommand` that it could stand for.',
    );
    await say(you, '!alias add twice greet');
    expect(await say(alice, '!twice Eve')).to.equal('Hello Eve and Bob');
    expect(await say(you, '!alias list')).to.include('`twice` → greet');
    // A cycle of aliases ends.
    await say(you, '!alias delete greet');
    await say(you, '!alias add greet twice');
    expect(await say(alice, '!greet x')).to.equal('');
  });

  it('do for who uses them no more than their maker may, and stand in the audit as what they ran', async () => {
    await using world = await openCustom();
    const { host, say } = world;
    const { you, alice, bob, guild } = host;
    const [mods, admins] = [
      guild.createRole({ name: 'Mods', permissions: ['KickMembers'] }),
      guild.createRole({ name: 'Admins', permissions: ['ManageGuild'] }),
    ];
    guild.giveRole(alice, mods);
    guild.giveRole(bob, admins);
    await host.settled();
    await say(alice, '!alias add hello roles admin add Mods');
    await say(alice, '!alias add colour set admin suggestions off');
    await say(bob, '!alias add hey access global deny everything servers');
    await say(bob, '!alias add pre prefix add');
    expect(await say(you, '!hello')).to.include('the alias was made by a moderator: type the command itself');
    expect(await say(you, '!colour')).to.include('only an admin may change settings of this server');
    expect(await say(you, '!hey')).to.include('the alias was made by an admin: type the command itself');
    await say(bob, '!alias add hi mydata forget everything');
    expect(await say(alice, '!hi')).to.include('Type this command itself');
    expect(await say(you, '!roles list')).to.include('Admins: no role');
    expect(await say(you, '!pre ?')).to.include('`?`');
    expect((await host.resolve(AuditLog).recent(guild.id, 1))[0]).to.include({ act: 'prefix add ?', userId: you.id });
  });

  it('lose and repeat no word, whatever is typed', async () => {
    const heard: string[] = [];
    const listener = definePlugin({
      manifest: { id: 'listener', version: '1.0.0', description: 'Listens' },
      setup: ({ command }) =>
        void command({
          name: 'do',
          description: 'Keeps what it is told',
          options: { words: option.rest().optional() },
          run: (_, { words = '' }) => void heard.push(words),
        }),
    });
    await using world = await openCustom(listener);
    const { host, say } = world;
    for (let named = 0; named <= 4; named += 1) {
      const text = ['do', ...Array.from({ length: named }, (_, index) => `{${index}}`)].join(' ');
      await say(host.you, `!alias add do${named} ${text}`);
    }
    const word = fc.stringMatching(/^[a-z]{1,5}$/u);
    const typed = [0, 1, 2, 3, 4].flatMap((named) =>
      [0, 1, 2, 3, 4, 5].flatMap((length) => {
        const [words = []] = fc.sample(fc.array(word, { minLength: length, maxLength: length }), 1);
        return [[words, named] as const];
      }),
    );
    for (const [words, named] of typed) host.alice.say(host.general, `!do${named} ${words.join(' ')}`);
    await host.settled();
    const wordsOf = (text: string) => text.split(/\s+/u).filter((one) => one !== '');
    expect(heard.map(wordsOf)).to.deep.equal(typed.map(([words]) => words));
  });
});
