import { subcommand } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Bench, createBench } from './support/bench.js';

const run = () => undefined;

describe('the directory of commands', () => {
  let bench: Bench;
  before(async () => {
    bench = await createBench();
    const dice = bench.owner('dice');
    bench.commands.command(dice, { name: 'roll', description: 'Rolls', run });
    bench.commands.command(bench.owner('party'), { name: 'party', description: 'Lists', run });
    bench.commands.group(dice, {
      name: 'bag',
      description: 'Dice',
      commands: [
        subcommand({ name: 'open', description: 'Opens', run }),
        subcommand({ name: 'burn', description: 'Burns', access: { tier: 'admin' }, run }),
      ],
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const visibleTo = async (who: { readonly id: string }) => {
    const actor = { userId: who.id, guildId: bench.guild.id, channelId: bench.general.id };
    return (await bench.commands.visibleTo(actor)).map((info) => info.name);
  };

  it('shows what the member may run there, by full name, sorted', async () => {
    expect(await visibleTo(bench.you)).to.deep.equal(['bag burn', 'bag open', 'party', 'roll']);
    expect(await visibleTo(bench.alice)).to.deep.equal(['bag open', 'party', 'roll']);
  });

  it('leaves out plugins that are switched off', async () => {
    bench.disabled.add('dice');
    expect(await visibleTo(bench.you)).to.deep.equal(['party']);
    bench.disabled.clear();
  });

  it('knows which messages run a command', async () => {
    const said = [
      '!roll',
      '!bag',
      '!bag x',
      '!rol',
      'roll',
      '! party',
      `<@${bench.app.user.id}> roll`,
      `<@${bench.app.user.id}> hi`,
    ];
    for (const content of said) bench.alice.say(bench.general, content);
    await bench.settled();
    const channel = bench.client.channels.cache.get(bench.general.id);
    if (channel?.isTextBased() !== true) throw new Error('There is no such channel.');
    const matching = channel.messages.cache
      .filter((message) => bench.commands.matches(message))
      .map((one) => one.content);
    expect(matching).to.deep.equal(['!roll', '!bag', '!bag x', '! party', `<@${bench.app.user.id}> roll`]);
    expect([...bench.ran]).to.deep.equal(matching);
  });
});
