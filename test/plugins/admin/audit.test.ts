import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ButtonStyle, ComponentType } from 'discord.js';

const ballot = definePlugin({
  manifest: { id: 'ballot', version: '1.0.0', description: 'Lets members vote' },
  setup({ command, component, tool }) {
    const close = component({
      name: 'close',
      access: { tier: 'mod' },
      run: (interaction) => (interaction.isButton() ? interaction.deferUpdate() : undefined),
    });
    command({
      name: 'ballot',
      description: 'Ask',
      run: (ctx) =>
        ctx.reply({
          content: 'Yes?',
          components: [
            {
              type: ComponentType.ActionRow,
              components: [
                {
                  type: ComponentType.Button,
                  style: ButtonStyle.Danger,
                  label: 'Close it',
                  custom_id: close.customId(),
                },
              ],
            },
          ],
        }),
    });
    const input = z.object({});
    const access = {};
    tool({ name: 'vote', description: 'Vote', input, risk: 'write', access, run: () => 'Voted.' });
    const member = z.string().describe('Whom');
    tool({
      name: 'elect',
      description: 'Elect',
      input: z.object({ member }),
      risk: 'write',
      access,
      run: () => 'So be it.',
    });
    tool({ name: 'look', description: 'Look', input, risk: 'read', access, run: () => 'Seen.' });
  },
});

describe('the audit of a server', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'ai', 'confirm', ballot] });
  });
  after(() => host.stop());
  const say = async (who: TestHost['you'], text: string) => {
    who.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1);
  };
  const audit = async () => {
    const shown = host.you.slash(host.general, 'audit', {});
    await host.settled();
    return shown.messages[0]?.content ?? '';
  };

  it('has calls of tools about a member under their name, without what else was asked for', async () => {
    await using town = await createTestHost({ plugins: ['admin', ballot] });
    const actor = { userId: town.you.id, guildId: town.guild.id, channelId: town.general.id };
    for (const member of ['Alice', town.bob.id, `<@${town.alice.id}>`])
      await town.resolve(Tools).invoke({ name: 'elect', arguments: { member }, actor, origin: 'test' });
    town.you.say(town.general, `!audit ${town.alice}`);
    await town.settled();
    const shown = town.general.messages.at(-1)?.content ?? '';
    expect(shown.match(/tool `elect` — done/g)).to.have.length(2);
    expect(shown).to.not.include('Alice');
  });

  it('has what admins did, settings, prefixes and plugins, and what members were refused, with who and why', async () => {
    await say(host.you, '!set ai answerCharacters 500');
    await say(host.you, '!prefix add ?');
    await say(host.alice, '!prefix add $');
    await say(host.you, '!prefix add !');
    const shown = await audit();
    expect(shown)
      .to.match(new RegExp(`<@${host.you.id}> set ai answerCharacters 500$`, 'm'))
      .and.match(new RegExp(`<@${host.you.id}> prefix add \\\\??\\?$`, 'm'))
      .and.match(new RegExp(`<@${host.alice.id}> prefix add \\\\?\\$ — denied \\(.*admin`, 'm'))
      .and.match(/prefix add \\?! — refused/);
    expect(await say(host.alice, '!audit'))
      .to.have.property('content')
      .that.includes('You may not do that');
  });

  it('leaves out what only showed something, unless all is asked for', async () => {
    await say(host.you, '!plugin list');
    await say(host.you, '!set ai');
    await say(host.you, '!access list');
    await say(host.you, '!set ai answerCharacters 600');
    await say(host.alice, '!plugin list');
    const changes = await audit();
    expect(changes)
      .to.include('set ai answerCharacters 600')
      .and.match(/plugin list — denied/)
      .and.not.match(/plugin list$|set ai$|access list$|audit$/m);
    for (const typed of ['!audit all', `!audit ${host.you} --all`])
      expect((await say(host.you, typed))?.content)
        .to.match(/plugin list$/m)
        .and.match(/set ai$/m)
        .and.match(/access list$/m)
        .and.include('set ai answerCharacters 600');
  });

  it('has acts of admins by commands that everyone may use, and of what was refused the reason without the usage', async () => {
    await say(host.you, '!ai use nope');
    await say(host.you, '!ai use default --here');
    await say(host.alice, '!ai use default');
    await say(host.you, '!tool policy');
    const shown = (await audit()).split('\n').slice(1);
    expect(shown[0]).to.match(/tool policy — refused \(\\?`tool\\?` is missing\.\)$/);
    expect(shown[1]).to.match(/ai use default — denied \(.*admin/);
    expect(shown[2]).to.match(/ai use default --here$/);
    expect(shown[3]).to.match(/ai use nope — refused \(Nothing called/);
  });

  it('has the act of disabling confirmations, whose consequences are explained and confirmed before', async () => {
    const question = await say(host.you, '!plugin disable confirm');
    expect(question?.content).to.include('Without it nothing that a model does here is held for a 👍');
    if (question === undefined) throw new Error('Nothing was asked.');
    expect((await say(host.you, '!plugin info confirm'))?.content).to.include('on here');
    host.you.click(question, 'Switch it off');
    await host.settled();
    expect(question.content).to.include('is off in this server now');
    expect((await say(host.you, '!plugin info confirm'))?.content).to.include('off here');
    expect(await audit()).to.include('plugin disable confirm (agreed)');
  });

  it('is narrowed to a member, a plugin or a tool, and has pages behind buttons', async () => {
    for (let index = 0; index < 30; index += 1) await say(host.you, `!set ai turnsPerMinute ${index + 1}`);
    const first = await say(host.you, '!audit ai');
    expect(first?.content)
      .to.match(/^\*\*Audit\*\*, page 1 of 2\n.* set ai turnsPerMinute 30$/m)
      .and.not.include('prefix add');
    if (first === undefined) throw new Error('There was no answer.');
    const before = host.general.messages.length;
    host.alice.click(first, 'Older');
    await host.settled();
    expect(first.content).to.include('page 1 of 2');
    host.you.click(first, 'Older');
    await host.settled();
    expect(first.content)
      .to.match(/page 2 of 2/)
      .and.include('ai use nope — refused');
    expect(host.general.messages).to.have.length(before);
    expect((await say(host.you, `!audit ${host.alice}`))?.content)
      .to.include('prefix add')
      .and.not.include(`<@${host.you.id}>`);
    expect((await say(host.you, '!audit nothing'))?.content).to.equal('Nothing like that has been recorded here.');
    expect((await say(host.you, '!audit 2'))?.content).to.include('page 2 of');
  });

  it('has presses of buttons that ask for a moderator, refused ones, too, and calls of tools that change something', async () => {
    await say(host.you, '!ballot');
    const question = host.general.messages.at(-1);
    if (question === undefined) throw new Error('Nothing was asked.');
    for (const who of [host.alice, host.you]) {
      who.click(question, 'Close it');
      await host.settled();
    }
    await host.advance(1_000);
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    for (const name of ['vote', 'look'])
      await host.resolve(Tools).invoke({ actor, name, arguments: {}, origin: 'chat' });
    await host.settled();
    const shown = await audit();
    expect(shown)
      .to.match(new RegExp(`<@${host.you.id}> button "Close it"$`, 'm'))
      .and.match(new RegExp(`<@${host.alice.id}> button "Close it" — denied \\(`, 'm'))
      .and.match(new RegExp(`<@${host.alice.id}> tool \`vote\` — done`, 'm'))
      .and.not.include('`look`');
    expect((await say(host.you, '!audit ballot'))?.content)
      .to.include('Close it')
      .and.include('`vote`');
  });
});
