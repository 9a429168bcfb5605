import { subcommand } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createHarness, type Harness } from './support/harness.js';

const run = () => undefined;

describe('the directory of commands', () => {
  let harness: Harness;
  before(async () => {
    harness = await createHarness();
    const dice = harness.owner('dice');
    harness.commands.command(dice, { name: 'roll', description: 'Rolls', run });
    harness.commands.command(harness.owner('party'), { name: 'party', description: 'Lists', run });
    harness.commands.group(dice, {
      name: 'bag',
      description: 'Dice',
      commands: [
        subcommand({ name: 'open', description: 'Opens', run }),
        subcommand({ name: 'burn', description: 'Burns', access: { tier: 'admin' }, run }),
      ],
    });
  });
  after(() => harness[Symbol.asyncDispose]());

  const visibleTo = async (who: { readonly id: string }) => {
    const actor = { userId: who.id, guildId: harness.guild.id, channelId: harness.general.id };
    return (await harness.commands.visibleTo(actor)).map((info) => info.name);
  };

  it('shows what the member may run there, by full name, sorted', async () => {
    expect(await visibleTo(harness.you)).to.deep.equal(['bag burn', 'bag open', 'party', 'roll']);
    expect(await visibleTo(harness.alice)).to.deep.equal(['bag open', 'party', 'roll']);
  });

  it('leaves out plugins that are switched off', async () => {
    harness.disabled.add('dice');
    expect(await visibleTo(harness.you)).to.deep.equal(['party']);
    harness.disabled.clear();
  });

  it('knows which messages run a command', async () => {
    const said = [
      '!roll',
      '!bag',
      '!bag x',
      '!rol',
      'roll',
      '! party',
      `<@${harness.app.user.id}> roll`,
      `<@${harness.app.user.id}> hi`,
    ];
    for (const content of said) harness.alice.say(harness.general, content);
    await harness.settled();
    const channel = harness.client.channels.cache.get(harness.general.id);
    if (channel?.isTextBased() !== true) throw new Error('There is no such channel.');
    const matching = channel.messages.cache
      .filter((message) => harness.commands.matches(message))
      .map((one) => one.content);
    expect(matching).to.deep.equal(['!roll', '!bag', '!bag x', '! party', `<@${harness.app.user.id}> roll`]);
    expect([...harness.ran]).to.deep.equal(matching);
  });
});
